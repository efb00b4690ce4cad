"""The checks that tools/tidy.py runs; each module checks one subject and yields findings."""
