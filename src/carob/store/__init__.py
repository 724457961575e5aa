"""The store of runs: a SQLite file by default, or PostgreSQL. Plain SQL, one schema."""

from carob.store.database import Database
from carob.store.url import DEFAULT, exists, open_store

__all__ = ["DEFAULT", "Database", "exists", "open_store"]
