"""Rubrics: what a judge is asked, in files that anybody can review, and what keeps it honest."""
