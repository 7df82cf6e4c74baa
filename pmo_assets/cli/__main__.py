"""`python -m pmo_assets.cli`: the same as `pmo`."""

from pmo_assets.cli.main import main

if __name__ == "__main__":
    main()
