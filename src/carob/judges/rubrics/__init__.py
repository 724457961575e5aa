"""Rubrics: reviewable files that define what a judge asks, and the judges that follow them."""
