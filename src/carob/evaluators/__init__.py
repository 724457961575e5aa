"""Evaluators: code of users that scores a pair, in Python or as a process in any language."""
