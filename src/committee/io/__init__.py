"""Reading and writing of tables in files: CSV, JSON lines, Parquet, Feather."""
