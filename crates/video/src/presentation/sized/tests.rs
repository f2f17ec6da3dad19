//! Columns that are sizes, times or neither, units, and limits.

use super::super::sizes::ROW;
use super::super::testing::{arguments, built};
use super::*;

const FILE: &str = "# bytes\n low, high \n\n40000,120000\r\n50000, 150000\n30000,90000\n";

fn sizes(text: &str) -> Vec<Vec<u64>> {
    let sized = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
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

#[test]
fn columns_that_count_the_lines_are_skipped() {
    let text = "index,low,Segment,high\n1,40000,1,120000\n2,50000,2,150000\n3,30000,3,90000\n";
    assert_eq!(sizes(text), sizes(FILE));
    let notes = |text| (ROW.build.notes)(&arguments(&ROW, &[("file", text)]));
    assert_eq!(notes(text), ["the-file, skipped columns that are not needed: \"index\", \"Segment\""]);
    assert_eq!(notes(",low\n0,5\n"), ["the-file, skipped a column that is not needed: 1"]);
    assert_eq!(notes(FILE), [""; 0]);
    assert!(parse("segment\n1\n").unwrap_err().to_string().contains("no column of a representation"));
}

/// A column of numbers or times was the lowest representation.
#[test]
fn columns_that_are_not_sizes_are_skipped_whatever_their_names() {
    for name in [
        "Segment No",
        "seg",
        "chunk",
        "segment_number",
        "Chunk #",
        "#",
        "Seg. nr",
        "Chunk Index",
        "SegmentNumber",
        "segmento",
        "foo",
        "time",
        "t",
        "n",
        "id",
        "Seq",
    ] {
        let text = format!("{name};low;high\n1;40000;120000\n2;50000;150000\n3;30000;90000\n");
        assert_eq!(sizes(&text), sizes(FILE), "{name}");
        let notes = (ROW.build.notes)(&arguments(&ROW, &[("file", &text)]));
        assert!(notes.len() == 1 && notes[0].contains("skipped a column"), "{name}: {notes:?}");
    }
    assert_eq!(sizes("bitrate (kbps),Mean_Quality,low\n7,9,4\n5,8,5\n"), [[4, 5]]);
    assert_eq!(sizes("low,seg,url\n4,1,a.m4s\n5,2,b.m4s\n"), [[4, 5]]);
    assert_eq!(sizes("x,low\n17,4\n18,9\n19,6\n"), [[4, 9, 6]], "not all of a film");
    assert_eq!(sizes("low,high\n4,17\n5,18\n"), [[4, 5], [17, 18]], "two lines are none");
    assert_eq!(sizes("low\n1\n2\n3\n"), [[1, 2, 3]], "the only column");
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
        ("duration_s", ["2", "2.000", "2"]),
        ("Segment duration (ms)", ["2000", "2000", "2000"]),
    ] {
        assert_eq!(told(head, cells), None, "{head}");
    }
    for (head, cells, problem) in [
        (
            "time (s)",
            ["0", "4", "8"],
            "line 3: the segment starts at 4 s in column \"time (s)\", and 2 s by the option",
        ),
        (
            "duration_s",
            ["2", "2", "3"],
            "line 4: the segment lasts 3 s in column \"duration_s\", and 2 s by the option",
        ),
        ("duration_ms", ["2", "2", "2"], "line 2: the segment lasts 2 ms"),
        ("time_s", ["0", "x", "4"], "line 3: \"time_s\": \"x\" is not a number; expected a time"),
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
    assert_eq!(sizes("low (KiB),b_size\n1,2000\n"), [[1_024], [2_000]]);
    for head in [
        "low (kilobytes)",
        "low_kBytes",
        "kB_low",
        "low..kB.",
        "low/kB",
        "size_in_kB_low",
        "low [ko]",
        "sizekB low",
    ] {
        assert_eq!(sizes(&format!("{head},high (kB)\n10,20\n")), [[10_000], [20_000]], "{head}");
    }
    assert_eq!(sizes("300kbps,750 kbps\n1000,2000\n"), [[1_000], [2_000]], "names of representations");
    let error = |text: &str| parse(text).unwrap_err().to_string();
    for unit in
        ["kbit", "Mbps", "KB", "kb", "Mb", "bits", "kB/s", "kilobits", "Kbits", "KBytes", "Kbytes", "10 B"]
    {
        let found = error(&format!("low ({unit}),high\n10,20\n"));
        assert!(
            found.starts_with(&format!("line 1: column \"low ({unit})\" is in {unit}; expected B, kB")),
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
        assert!(found.contains(" is in ") || found.contains("is of bitrates"), "{head}: {found}");
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

/// Counts, scenes and qualities were the lowest representation, and lines of several representations one.
#[test]
fn columns_of_something_else_are_skipped_or_refused() {
    for other in [
        "end",
        "end_time",
        "scene",
        "crf",
        "keyframes",
        "total",
        "Total Size",
        "SI",
        "QP",
        "240p_ssim",
        "vmaf_low",
        "bitrate",
        "SSIM low",
        "complexity",
    ] {
        let text = format!("{other},low,high\n7,40000,120000\n3,50000,150000\n9,30000,90000\n");
        assert_eq!(sizes(&text), sizes(FILE), "{other}");
    }
    let error = |text: &str| parse(text).unwrap_err().to_string();
    for head in [
        "viewers,low,high",
        "video_id,low,high",
        "audio,low,high",
        "x1,240p,360p",
        "temperature,size_1,size_2",
        "foo,300k,750k",
        "foo,a,b",
    ] {
        let found = error(&format!("{head}\n7,40000,120000\n3,50000,150000\n9,30000,90000\n"));
        assert!(found.starts_with("line 1: nothing tells that column "), "{head}: {found}");
    }
    for head in ["representation,segment,bytes", "quality,chunk,size", "Bitrate (kbps),segment,Size (kB)"] {
        let found = error(&format!("{head}\n1,1,86250\n1,2,90112\n2,1,258000\n2,2,301442\n"));
        assert!(
            found.contains("a line for each segment of each representation; expected"),
            "{head}: {found}"
        );
    }
    let found = error("representation,size\n240p,100000\n360p,200000\n");
    assert!(found.contains("a line for each segment of each representation; expected"), "{found}");
    for head in
        ["240p,360p", "300_kbps,750_kbps", "300k,750k", "640x360,1280x720", "q0,q1", "track_1,track_2", "a,b"]
    {
        let text = format!("{head}\n40000,120000\n50000,150000\n30000,90000\n");
        assert_eq!(sizes(&text), sizes(FILE), "{head}");
    }
}

#[test]
fn thousands_are_not_decimals() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
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
    let text = |count| format!("a\n{}", "1\n".repeat(count));
    assert_eq!(parse(&text(MAX_SEGMENTS)).unwrap().columns[0].sizes.len(), MAX_SEGMENTS);
    let error = parse(&text(MAX_SEGMENTS + 1)).unwrap_err();
    assert_eq!(error.to_string(), "line 100002: more than 100000 segments");
    let wide = (0..=MAX_REPRESENTATIONS).map(|at| format!("a{at}")).collect::<Vec<_>>().join(",");
    assert_eq!(parse(&wide).unwrap_err().to_string(), "line 1: more than 100 columns");
}
