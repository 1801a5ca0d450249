"""What the panel asks for: documents, windows of rows, exported files, and the snapshot that a report holds."""
