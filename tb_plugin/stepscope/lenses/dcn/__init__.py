"""Which cross-slice collective stalls the accelerator, and whether bandwidth is to blame."""

from stepscope.lenses.comparison import Comparison
from stepscope.lenses.dcn.analysis import analyze
from stepscope.lenses.dcn.comparison import compare
from stepscope.lenses.dcn.options import DcnOptions
from stepscope.lenses.dcn.result import DcnResult

__all__ = ["Comparison", "DcnOptions", "DcnResult", "analyze", "compare"]
