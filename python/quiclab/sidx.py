"""The segments of media files by their index: `python -m quiclab.sidx film.mpd > film.csv`.

The public name of `quiclab.records.segment_index`.
"""

from quiclab.records.segment_index import main
from quiclab.records.segment_index import rows as rows
from quiclab.records.segment_index import segments as segments

if __name__ == "__main__":
    main()
