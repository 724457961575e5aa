"""Where runs are kept: in a SQLite file by default, or in PostgreSQL. Plain SQL, one schema."""

from carob.store.database import Database
from carob.store.place import DEFAULT, is_there, open_store

__all__ = ["DEFAULT", "Database", "is_there", "open_store"]
