//! What is read of tables in text files, in all their forms.

use super::*;

/// The places of columns, and the rows of a file.
fn read<'a>(text: &'a str, known: &[&str]) -> (Vec<Option<usize>>, Vec<Vec<&'a str>>) {
    let mut reader = Reader::new(text);
    let places = reader.columns(known).unwrap();
    let (mut rows, mut cells) = (Vec::new(), Vec::new());
    while reader.next(&mut cells).is_some() {
        rows.push(cells.clone());
    }
    (places, rows)
}

#[test]
fn the_same_cells_are_read_from_every_form() {
    for text in [
        "time_ms,size\n0,12 kB\n2,5\n",
        "\u{feff}time_ms,size\r\n0,12 kB\r\n2,5\r\n",
        "time_ms,size\r0,12 kB\r2,5\r",
        "# c\n\n time_ms , size \n# c\n 0 , 12 kB\n\n2,5,,\n",
        "Time (ms);SIZE\n0;12 kB\n2;5",
        "\"time-ms\",\"Size\"\n\"0\",\"12 kB\"\n\"2\",\"5\"\n",
        "time_ms\tsize\n0\t12 kB\n2\t5\n",
        "time_ms,size,\n0,12 kB,\n2,5,\n",
    ] {
        let (places, rows) = read(text, &["time_ms", "size"]);
        assert_eq!(
            (places, rows),
            (vec![Some(0), Some(1)], vec![vec!["0", "12 kB"], vec!["2", "5"]]),
            "{text}"
        );
    }
    let (places, rows) = read("a b time_ms\n1 2 3\n", &["time_ms", "size"]);
    assert_eq!((places, rows), (vec![Some(2), None], vec![vec!["1", "2", "3"]]));
    assert_eq!(read("time_s\t\trate\n0\t\t5\n", &["rate"]).1, [["0", "", "5"]]);
    let mut short = Reader::new("time_s\trate\n0\t\t5\n");
    let mut cells = Vec::new();
    assert!(short.next(&mut cells).is_some() && short.miscounted(cells.len()).is_some(), "{cells:?}");
    assert_eq!(read("\ta\tb\n0\t1\t\n", &["a", "b"]), (vec![Some(1), Some(2)], vec![vec!["0", "1", ""]]));
    assert_eq!(read("\t1\t2\n\t3\t4\n", &[]).1, [["1", "2"], ["3", "4"]], "indented by tabs");
    assert_eq!(read("a,b\n\"1,5\",2\n", &["b"]).1, [["1,5", "2"]], "a separator in quotes");
    assert_eq!(read("\"a b\"  \"c\"\n 1 \"2 3\"\n", &["a_b", "c"]).1, [["1", "2 3"]], "quotes and blanks");
    assert_eq!(read("\"the size\"\n12 kB\n", &["the_size"]).1, [["12 kB"]]);
    assert_eq!(read("size\n12 kB\n\"5\"\n", &["size"]).1, [["12 kB"], ["5"]], "one column");
}

/// A sign that separates in one program is a part of a name in another.
#[test]
fn a_name_may_have_another_separator_in_it() {
    for text in [
        "time_ms,rate,cell;band\n0,10,1;7\n",
        "time_ms;rate;cell, band\n0;10;1, 7\n",
        "time_ms\trate\tcell;band, x\n0\t10\t1;7\n",
        "cell;band,time_ms,rate\n1,0,10\n",
    ] {
        let (places, rows) = read(text, &["time_ms", "rate"]);
        let values: Vec<&str> = places.iter().map(|place| rows[0][place.unwrap()]).collect();
        assert_eq!(values, ["0", "10"], "{text}");
    }
    assert_eq!(read("t, s;rate, b\n0,5;1,5\n", &["rate_b"]).1, [["0,5", "1,5"]], "decimal commas");
}

#[test]
fn names_of_several_words_and_of_rows() {
    assert_eq!(read("size (kB)\n10\n", &["size_kb"]), (vec![Some(0)], vec![vec!["10"]]));
    assert_eq!(read("size kB\n10\n", &["size_kb"]), (vec![Some(0)], vec![vec!["10"]]));
    assert_eq!(read("Time (ms)  Size [B]\n1 2\n", &["time_ms", "size_bytes"]).0, [Some(0), Some(1)]);
    assert_eq!(read("\"a\" \"b\"\n\"1\" 0 10\n", &["a", "b"]).0, [Some(1), Some(2)], "R");
    assert_eq!(read("a b\n\"1\" \"0\" \"10\"\n", &["a", "b"]).0, [Some(0), Some(1)], "three values");
    assert_eq!(read("a,b,\nx,0,10\n", &["a", "b"]).0, [Some(0), Some(1)], "a column without a name");
    let mut short = Reader::new("a b\n1 0 10\n");
    assert!(short.next(&mut Vec::new()).is_some() && short.miscounted(3).unwrap().contains("R: write.csv"));
}

#[test]
fn names_are_in_the_header_or_in_the_comment_above() {
    let of = |text| {
        let mut reader = Reader::new(text);
        reader.settle(&["time_ms", "rate"], &[]).unwrap();
        (reader.has_header(), reader.names().to_vec(), reader.count(), reader.first().number)
    };
    assert_eq!(of("# x\na,b\n1,2\n"), (true, vec!["a", "b"], 2, 2));
    assert_eq!(of("1 2\n"), (false, vec![], 2, 1));
    assert_eq!(of("# time_ms,rate\n1e0,-2.5\n"), (false, vec!["time_ms", "rate"], 2, 2));
    assert_eq!(of("# what it is, and when\n## time_ms rate\n1 2\n"), (false, vec!["time_ms", "rate"], 2, 3));
    assert_eq!(of("# one\n1 2\n"), (false, vec![], 2, 2));
    assert_eq!(of(" \n\n"), (false, vec![], 0, 1));
    assert_eq!(of("1,inf\n"), (true, vec!["1", "inf"], 2, 1));
}

#[test]
fn another_unit_is_another_name() {
    for (name, words) in [
        ("Loss (%)", "loss_percent"),
        ("loss%", "loss_percent"),
        ("Loss [‰]", "loss_permille"),
        ("Rate (MBps)", "rate_mbytes_ps"),
        ("rate_kBps", "rate_kbytes_ps"),
        ("Rate (Mbps)", "rate_mbps"),
        ("RATE_MBPS", "rate_mbps"),
        ("Time (ms)", "time_ms"),
    ] {
        assert_eq!(plain(name), words);
    }
}

#[test]
fn columns_that_nobody_needs_are_told() {
    let told = |text| Reader::new(text).skipped(&["size"]);
    assert_eq!(told("size\n"), None);
    assert_eq!(told("size,note\n").unwrap(), "skipped a column that is not needed: \"note\"");
    assert_eq!(
        told(",size,a,b,c\n").unwrap(),
        "skipped columns that are not needed: 1, \"a\", \"b\" and 1 more"
    );
    let twice = Reader::new("a,size,Size\n").columns(&["size"]).unwrap_err();
    assert_eq!(twice, "column \"size\" twice: columns 2 and 3");
    for header in ["rate_in_mbps,rate_out_mbps", "Rate out (Mbps),t,Rate in (Mbps)"] {
        let found = Reader::new(header).columns(&["rate_mbps"]).unwrap_err();
        assert!(found.ends_with("both have rates; expected one: leave the other out"), "{found}");
    }
    assert_eq!(Reader::new("rate_in_mbps,loss_out\n").columns(&["rate_mbps"]), Ok(vec![Some(0)]));
}

#[test]
fn numbers_have_one_decimal_sign() {
    let mut comma = Reader::new("a;b\n");
    assert_eq!(comma.scaled("1,5", 1), Some((15, false)));
    assert_eq!((comma.scaled("1.000,5", 1), comma.scaled("2.5", 1), comma.whole("2")), (None, None, Some(2)));
    let mut point = Reader::new("a;b\n");
    assert_eq!((point.real("-1.5e1"), point.real("2,5")), (Some(-15.0), None));
    let mut plain = Reader::new("a,b\n");
    assert_eq!((plain.whole("1,5"), plain.whole("1.2e1"), plain.whole("1.5")), (None, Some(12), None));
    for wrong in ["nan", "inf", "1e999", "", "e5", "0x10", "1_0", "1 2", "--1", "\u{661}"] {
        assert_eq!(plain.real(wrong), None, "{wrong}");
    }
}
