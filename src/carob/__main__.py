"""`python -m carob`, for when the command is not on the path."""

from carob.cli import main

if __name__ == "__main__":
    main()
