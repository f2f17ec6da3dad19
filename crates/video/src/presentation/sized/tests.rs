//! Columns that are sizes, times or neither, units, and limits.

use super::super::sizes::ROW;
use super::super::testing::built;
use super::*;

const FILE: &str = "# bytes\n low, high \n\n40000,120000\r\n50000, 150000\n30000,90000\n";

fn sizes(text: &str) -> Vec<Vec<u64>> {
    let sized = parse(text, None).unwrap_or_else(|error| panic!("{text}: {error}"));
    sized.columns.into_iter().map(|one| one.sizes).collect()
}

#[test]
fn the_same_sizes_are_read_from_every_form() {
    for text in [
        "\u{feff}low;high\r\n40000;120000\r\n50000;150000\r\n30000;90000\r\n",
        "low\thigh\n40000\t120000\n50000\t150000\n30000\t90000",
        "\"low\",\"high\"\n\"40000\",\"120000\"\n50000,150000,\n30000,90000\n",
        "# low high\n4.0e+04 1.2e+05\n50000 150000.0\n30000 90000\n",
    ] {
        assert_eq!(sizes(text), sizes(FILE), "{text}");
    }
}

/// The column that counts the segments was never looked at: lines of initialization, sums, gaps and several films were segments.
#[test]
fn a_column_beside_the_sizes_must_count_the_segments() {
    for name in [
        "Segment No",
        "seg",
        "chunk",
        "Chunk #",
        "#",
        "SegmentNumber",
        "segmento",
        "foo",
        "n",
        "id",
        "",
        "Unnamed: 0",
    ] {
        for first in 0..2 {
            let [one, two, three] = [first, first + 1, first + 2];
            let text =
                format!("{name};low;high\n{one};40000;120000\n{two};50000;150000\n{three};30000;90000\n");
            assert_eq!(sizes(&text), sizes(FILE), "{name}");
        }
    }
    assert_eq!(sizes("low,seg\n4,1\n5,2\n"), [[4, 5]]);
    assert_eq!(sizes("low\n1\n2\n3\n"), [[1, 2, 3]], "the only column");
    let error = |text: &str| parse(text, None).unwrap_err().to_string();
    for (keys, told) in [
        (["1", "2", "5"], "line 4: column 1, \"seg\", is \"5\"; expected 3, the number of the next segment"),
        (["1", "2", "total"], "line 4: column 1, \"seg\", is \"total\"; expected 3"),
        (["1", "1", "2"], "line 3: column 1, \"seg\", is \"1\"; expected 2"),
        (["0", "1", ""], "line 4: column 1, \"seg\", is \"\"; expected 2"),
        (["init", "1", "2"], "line 2: column 1, \"seg\", is neither a name of a representation"),
        (["3", "1", "2"], "line 2: column 1, \"seg\", is neither"),
        (["17", "18", "19"], "line 2: column 1, \"seg\", is neither"),
        (["a.m4s", "b.m4s", "c.m4s"], "line 2: column 1, \"seg\", is neither"),
    ] {
        let found = error(&format!("seg,low\n{},4000\n{},5000\n{},4000\n", keys[0], keys[1], keys[2]));
        assert!(found.starts_with(told), "{keys:?}: {found}");
    }
    assert!(error("segment\n1\n").contains("no column of a representation"));
}

/// The durations of segments that comments state.
#[test]
fn comments_with_another_duration_are_refused() {
    let told = |comment: &str| {
        let text = format!("# {comment}\nlow\n4000\n5000\n");
        built(&ROW, &[("file", &text), ("segment", "2 s")], 1).err().map(|(_, problem)| problem)
    };
    for comment in ["segments of 2 s", "a film of 600 s in segments", "2-second chunks", "segment = 2000 ms"]
    {
        assert_eq!(told(comment), None, "{comment}");
    }
    for comment in ["segments of 4 s", "segment = 4 s, bytes", "4s segments", "chunk duration: 4000 ms"] {
        let found = told(comment).unwrap_or_default();
        assert!(
            found.contains("line 1: the comment says that segments last 4 s, and by the option"),
            "{comment}: {found}"
        );
    }
}

#[test]
fn columns_of_times_must_be_those_of_the_segments() {
    let told = |head: &str, cells: [&str; 3]| {
        let text = format!("{head},low\n{},4000\n{},5000\n{},4000\n", cells[0], cells[1], cells[2]);
        built(&ROW, &[("file", &text), ("segment", "2 s")], 1).err().map(|(_, problem)| problem)
    };
    for (head, cells) in [
        ("time (s)", ["0", "2", "4"]),
        ("start_ms", ["10000", "12000", "14000"]),
        ("Time (s)", ["0.0", "2.0", "4.0004"]),
        ("duration_s", ["2", "2.00", "2"]),
        ("Segment duration (ms)", ["2000", "2000", "2000"]),
    ] {
        assert_eq!(told(head, cells), None, "{head}");
    }
    for (head, cells, problem) in [
        (
            "time (s)",
            ["0", "4", "8"],
            "line 3: the segment starts at 4 s in column 1, \"time (s)\", and 2 s by the option",
        ),
        (
            "duration_s",
            ["2", "2", "3"],
            "line 4: the segment lasts 3 s in column 1, \"duration_s\", and 2 s by the option",
        ),
        ("duration_ms", ["2", "2", "2"], "line 2: the segment lasts 2 ms"),
        ("time_s", ["0", "x", "4"], "line 3: column 1, \"time_s\": \"x\" is not a number; expected a time"),
    ] {
        let found = told(head, cells).unwrap_or_default();
        assert!(found.contains(problem), "{head}: {found}");
    }
}

#[test]
fn units_of_columns_are_used_or_refused() {
    for text in [
        "low (kB);high [kB]\n40;120\n50,0;150\n30;90\n",
        "low_kB,high_bytes\n40,120000\n50,150000\n30,90000\n",
        "low (B),high (MB)\n40000,0.12\n50000,0.15\n30000,9e-2\n",
        "# sizes in kB\nlow (kB),high kB\n40,120\n50,150\n30,90\n",
    ] {
        assert_eq!(sizes(text), sizes(FILE), "{text}");
    }
    assert_eq!(sizes("size (kB)\n10\n20.5\n"), [[10_000, 20_500]], "the only column");
    assert_eq!(sizes("size kB\n10\n20.5\n"), [[10_000, 20_500]]);
    assert_eq!(sizes("kB\n10\n"), [[10_000]]);
    assert_eq!(sizes("low (KiB),high_size\n1,2000\n"), [[1_024], [2_000]]);
    for head in ["low (kilobytes)", "low_kBytes", "kB_low", "low..kB.", "low/kB", "low [ko]", "low_size (kB)"]
    {
        assert_eq!(sizes(&format!("{head},high (kB)\n10,20\n")), [[10_000], [20_000]], "{head}");
    }
    assert_eq!(sizes("300kbps,750 kbps\n1000,2000\n"), [[1_000], [2_000]], "names of representations");
    let error = |text: &str| parse(text, None).unwrap_err().to_string();
    for unit in
        ["kbit", "Mbps", "KB", "kb", "Mb", "bits", "kB/s", "kilobits", "Kbits", "KBytes", "Kbytes", "10 B"]
    {
        let found = error(&format!("low ({unit}),high\n10,20\n"));
        assert!(
            found.starts_with(&format!("line 1: column 1, \"low ({unit})\", is in {unit}; expected B, kB")),
            "{found}"
        );
    }
    let found = error("# sizes in kB\nlow,high\n10,20\n");
    assert!(
        found.starts_with("line 2: the comment in line 1 has \"kB\"; expected the unit behind"),
        "{found}"
    );
    for head in [
        "kbits_240p,kbits_360p",
        "240p_kbps,360p_kbps",
        "240p bitrate,360p bitrate",
        "bitrate_240p,bitrate_360p",
    ] {
        let found = error(&format!("{head}\n800,1600\n"));
        assert!(found.contains(" is in ") || found.contains("tells which representation"), "{head}: {found}");
    }
    for comment in [
        "sizes in kilobytes",
        "thousands of bytes",
        "all values: Kbytes",
        "in KBytes.",
        "sizes are in kilobits",
        "Kb",
    ] {
        let found = error(&format!("# {comment}\nlow,high\n10,20\n"));
        assert!(found.starts_with("line 2: the comment in line 1 has "), "{comment}: {found}");
    }
    let found = error("# segment low\n# of me\n1 1000\n2 1100\n");
    assert!(found.starts_with("line 3: the columns have other names in the comment in line 1"), "{found}");
}

/// Counts, parts of a segment, other films and lines of a ladder were representations.
#[test]
fn columns_of_something_else_are_refused() {
    let error = |text: &str| parse(text, None).unwrap_err().to_string();
    for other in [
        "end",
        "end_time",
        "scene",
        "crf",
        "keyframes",
        "total",
        "Total Size",
        "SI",
        "240p_ssim",
        "vmaf_low",
        "complexity",
        "viewers",
        "video_id",
        "audio",
        "x1",
        "temperature",
        "audio_128k",
        "max",
        "header",
        "i_frame",
        "tile_1",
        "left",
        "bbb",
        "hevc",
        "720p_avc",
        "240p_pts",
        "start_byte",
        "240p_offset",
        "size_1_cum",
        "bytes_from",
        "size_init",
        "size_uncompressed",
        "dl_bytes",
        "low (thousands)",
        "240p_max",
        "low.1",
        "a",
        "url",
    ] {
        let found =
            error(&format!("low,{other},high\n40000,70000,120000\n50000,71000,150000\n30000,70500,90000\n"));
        let told = format!("line 2: column 2, {other:?}, is neither a name of a representation");
        assert!(found.starts_with(&told) && found.contains("leave it out"), "{other}: {found}");
    }
    for other in ["time", "duration", "length", "start"] {
        let found = error(&format!("low,{other}\n40000,0\n50000,1\n"));
        assert!(
            found.starts_with(&format!("line 1: column 2, {other:?}, has times without a unit")),
            "{found}"
        );
    }
    for head in ["size,low", "bytes,size", "video_size,240p"] {
        assert!(
            error(&format!("{head}\n40000,50000\n")).contains("does not say of which representation"),
            "{head}"
        );
    }
}

#[test]
fn lines_of_representations_are_refused() {
    let error = |text: &str| parse(text, None).unwrap_err().to_string();
    for text in [
        "representation,segment,bytes\n1,1,86250\n1,2,90112\n2,1,258000\n2,2,301442\n",
        "quality,chunk,size\n1,1,86250\n2,1,258000\n",
        "Bitrate (kbps),segment,Size (kB)\n300,1,86250\n",
        "representation,size\n240p,100000\n360p,200000\n",
        "bitrate,size_1,size_2,size_3\n300,100000,110000,120000\n750,200000,210000,220000\n",
        "rep,1s,2s\n240p,100000,110000\n480p,200000,210000\n",
        "level,size\n0,100000\n1,200000\n",
    ] {
        let found = error(text);
        assert!(found.contains("tells which representation a line is about; expected"), "{text}: {found}");
    }
    for text in [
        ",chunk1,chunk2,chunk3\n240p,100000,110000,120000\n480p,200000,210000,220000\n",
        "name,s1,s2,s3\n240p,100000,110000,120000\n480p,200000,210000,220000\n",
    ] {
        assert!(error(text).contains("is neither"), "{text}");
    }
    let turned = ",size_1,size_2,size_3\n0,100000,110000,120000\n1,200000,210000,220000\n";
    assert!(error(turned).contains("the lines are those of representations"));
}

#[test]
fn names_of_representations_are_read() {
    for head in [
        "240p,360p",
        "300_kbps,750_kbps",
        "300k,750k",
        "640x360,1280x720",
        "q0,q1",
        "video_1,video_2",
        "low,very high",
        "0.5Mbps,1 Mbit/s",
        "720p60,1080p60",
        "500K_360p,900k-720p",
        "size_1,size_2",
        "video_size_0,video_size_1",
        "240p_size,480p_bytes",
        "SD,HD",
        "Representation 1,Representation 2",
    ] {
        let text = format!("{head}\n40000,120000\n50000,150000\n30000,90000\n");
        assert_eq!(sizes(&text), sizes(FILE), "{head}");
    }
}

#[test]
fn thousands_are_not_decimals() {
    let error = |text: &str| parse(text, None).unwrap_err().to_string();
    for text in [
        "segment;low;high\n1;1.000;2.000\n",
        "low\thigh\n1.000\t2.000\n",
        "low,high\n1.000,2.000\n",
        "low;high\n1,000;2,000\n",
    ] {
        assert!(
            error(text).contains("can have three decimals or a separator of thousands;"),
            "{text}: {}",
            error(text)
        );
    }
    assert!(
        error("low,high\n\"1,000\",\"2,000\"\n").contains("has a separator of thousands; write it without")
    );
    assert!(error("low high\n1'000 2'000\n").contains("has a separator of thousands; write it without"));
    assert_eq!(
        sizes("low,high\n900.000,86250.000\n"),
        [[900], [86_250]],
        "others have more digits before the point"
    );
}

#[test]
fn a_file_has_a_limit() {
    let text = |count| format!("low\n{}", "1\n".repeat(count));
    assert_eq!(parse(&text(MAX_SEGMENTS), None).unwrap().columns[0].sizes.len(), MAX_SEGMENTS);
    let error = parse(&text(MAX_SEGMENTS + 1), None).unwrap_err();
    assert_eq!(error.to_string(), "line 100002: more than 100000 segments");
    let wide = (0..=MAX_REPRESENTATIONS).map(|at| format!("q{at}")).collect::<Vec<_>>().join(",");
    assert_eq!(parse(&wide, None).unwrap_err().to_string(), "line 1: more than 100 columns");
}

#[test]
fn a_stated_number_of_representations_lets_columns_have_any_names() {
    let text = "n,sizes of a,b (kB)\n1,100,1\n2,200,2\n";
    for number in [None, Some(1), Some(2)] {
        assert!(parse(text, number).is_err(), "{number:?}");
    }
    let found = parse(text, Some(3)).unwrap();
    let sizes: Vec<&[u64]> = found.columns.iter().map(|column| &*column.sizes).collect();
    assert_eq!(sizes, [&[1, 2][..], &[100, 200], &[1000, 2000]]);
    // Those with a unit of time are no sizes.
    assert!(parse("t (s),a,b\n0,100,200\n2,100,200\n", Some(2)).is_ok());
}
