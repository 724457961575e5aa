"""Where runs are kept: in a SQLite file by default, or in PostgreSQL. Plain SQL, one schema."""

from karat.store.database import Database
from karat.store.place import DEFAULT, is_there, open_store

__all__ = ["DEFAULT", "Database", "is_there", "open_store"]
