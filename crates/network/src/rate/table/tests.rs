//! What is read of tables of rates, what is told, and what is refused.

use super::*;

const ALL: Kind =
    Kind { columns: &[Column::Rate, Column::Delay, Column::Loss], unnamed: ["time_s", "rate_mbps"] };

/// Milliseconds and values of a file.
fn read(text: &str) -> (Vec<u64>, Vec<(Column, Vec<f64>)>) {
    let table = Table::parse(text, ALL).unwrap_or_else(|error| panic!("{text}: {error}"));
    (table.times.iter().map(|time| time.as_nanos() / 1_000_000).collect(), table.columns)
}

/// The same values as people, tools and spreadsheets write them.
#[test]
fn the_same_is_read_from_every_form() {
    let expected = (vec![0, 2_000, 5_500], vec![(Column::Rate, vec![20e6, 4_500_000.0, 0.0])]);
    for text in [
        "time_ms,rate_mbps\n0,20\n2000,4.5\n5500,0\n",
        "\u{feff}time_ms,rate_mbps\r\n0,20\r\n2000,4.5\r\n5500,0\r\n",
        "time_ms, rate_mbps \n0, 20\n 2000 ,4.5\n\n5500,0\n\n\n",
        "# what it is\ntime_s,rate_kbps\n0,20000\n# an outage\n2,4500\n5.5,0",
        "Time_s;Rate_Mbps\n0;20\n2;4,5\n5,5;0\n",
        "\"time_s\";\"rate_mbps\"\n\"0\";\"20\"\n\"2\";\"4,5\"\n\"5,5\";\"0\"\n",
        "time_s\trate_bps\n0\t20000000\n2\t4500000\n5.5\t0\n",
        "0 20\n2 4.5\n5.5 0\n",
        "0.0\t20\n2.0\t4.5\n5.5\t0.0\n",
        "0,20\n2,4.5\n5.5,0\n",
        "1.000000000000000000e+00 2.000000000000000000e+01\n3e0 4.5E0\n650e-2 0e0\n",
        "# time_ms,rate_kbps\n0,2e4\n2e3,4.5e3\n5.5e3,0\n",
        "note,rate_mbps,time_s\na,20,0\n\"b, c\",4.5,2\n,0,5.5\n",
        ",Time (s),Rate (Mbps),note\n0,0,20,x\n1,2,4.5,\n2,5.5,-0.0,\n",
        "time_us,rate_mbps\r0,20\r2000000,4.5\r5500000,0\r",
        "1583325061.5 20\n1583325063.5 4.5\n1583325067 0\n",
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    assert_eq!(
        read("time_ms,rate_mbps\n0,20,\n2000,4.5,,\n5500,0\n"),
        expected,
        "empty cells of a spreadsheet"
    );
}

#[test]
fn lines_of_the_same_time_become_their_mean() {
    let (times, columns) =
        read("time_s,rate_mbps,delay_ms,loss\n0,3,10,0\n1,2,10,0\n1,4,20,0.5\n1,9,30,1\n2,1,5,0\n");
    assert_eq!(times, [0, 1_000, 2_000]);
    let values: Vec<&[f64]> = columns.iter().map(|(_, values)| values.as_slice()).collect();
    assert_eq!(values, [&[3e6, 5e6, 1e6], &[10e6, 20e6, 5e6], &[0.0, 0.5, 0.0]]);
}

#[test]
fn the_place_of_a_mistake_is_its_line() {
    let error = |text: &str| Table::parse(text, ALL).unwrap_err().to_string();
    let expected = "expected a time in s, a rate in Mbit/s";
    assert_eq!(error("# c\n\n0 1\n\n1 x\n"), format!("5: found \"1 x\": \"x\" is not a number; {expected}"));
    assert!(
        error("time_s;rate_mbps\n0;1\n1;1,5,5\n")
            .starts_with("3: found \"1;1,5,5\": \"1,5,5\" has a separator")
    );
    assert_eq!(error("3 1\n2 1\n"), "2: 2 s comes after 3 s; times must not decrease");
    assert!(error("1 2 3\n").starts_with(
        "1: found \"1 2 3\", expected names of columns: one of time_ms, time_s, time_us, time_ns, and one"
    ));
    assert_eq!(
        error("time_s,rate_mbps,rate_bps\n"),
        "1: column 2, \"rate_mbps\", and column 3, \"rate_bps\", both have rates; expected one: leave the other out"
    );
    assert_eq!(
        error("time_s,time_ms,loss\n"),
        "1: column 1, \"time_s\", and column 2, \"time_ms\", both have times; expected one: leave the other out"
    );
    assert_eq!(error("time_s,loss,Loss\n"), "1: column \"loss\" twice: columns 2 and 3");
    assert!(
        error("# time_ms x\n1 2\n").starts_with("2: found \"time_ms\", \"x\", expected names of columns")
    );
    for cell in
        ["1e999", "-1", "-1e-30", "nan", "NaN", "inf", "-inf", "1e15", "", "1.5,5", "0x1", "1_0", "2 %"]
    {
        for line in [format!("1;{cell}"), format!("{cell};1")] {
            let found = error(&format!("time_s;rate_mbps\n0;1\n{line}\n"));
            assert!(found.starts_with("3: found "), "{line}: {found}");
        }
    }
}

/// A factor of a thousand: milliseconds that are read as seconds.
#[test]
fn names_and_units_in_comments_are_used_or_refused() {
    let used = (vec![0, 100], vec![(Column::Rate, vec![10e6, 20e6])]);
    for head in [
        "# time_ms rate_mbps\n# recorded by x\n",
        "# recorded by x\n# time_ms rate_mbps\n#\n",
        "# time_ms,rate_mbps\n\n# one more\n# and two\n",
        "# time_ms rate_mbps   (recorded 2023)\n",
        "# units: time_ms rate_mbps\n",
        "# columns: time_ms, rate_mbps\n# two words\n",
        "# Time (ms) Rate (Mbit/s)\n# x\n",
        "# time [msec]; rate [Mbps]\n",
        "# time_ms rate_mbps\n# Time (ms),Rate (Mbps)\n",
    ] {
        assert_eq!(read(&format!("{head}0 10\n100 20\n")), used, "{head}");
    }
    assert_eq!(
        read("# 5 minutes, every 100 ms, by us\n# loss trace\n0 10\n0.1 20\n"),
        used,
        "states no unit"
    );
    let error = |text: &str| Table::parse(text, ALL).unwrap_err().to_string();
    let told = "but the columns have no names; expected a first line with their names and units, like time_s,rate_mbps";
    assert_eq!(error("# time in ms\n0 10\n"), format!("2: the comment in line 1 has \"ms\", {told}"));
    for head in [
        "# ms, Mbit/s",
        "# kbps",
        "# times are in milliseconds",
        "# time(ms) and rate(mbps), from Oslo",
        "# rates in kbit/s",
        "# recorded time_ms and rate_mbps",
        "# unit of time: us",
        "# (us)",
        "# rate: MB/s",
    ] {
        let found = error(&format!("# x\n{head}\n0 10\n100 20\n"));
        assert!(found.starts_with("3: the comment in line 2 has "), "{head}: {found}");
        assert!(
            error(&format!("0 10\n{head}\n100 20\n")).starts_with("1: the comment in line 2 has "),
            "{head}"
        );
    }
    let found = error("# time_ms rate_mbps\n# time_s rate_mbps\n0 10\n");
    assert!(
        found.starts_with("3: the columns have other names in the comment in line 1 than in that in line 2"),
        "{found}"
    );
    let found = error("# in percent\ntime_s,loss\n0,0.5\n");
    assert!(
        found.starts_with("2: the comment in line 1 has \"percent\"; expected the unit in the name"),
        "{found}"
    );
}

/// Whatever the spelling: a unit that is not the assumed one, or none that is known, is never passed over.
#[test]
fn comments_with_other_units_are_refused_in_every_spelling() {
    let found = |comment: &str, kind| Table::parse(&format!("{comment}\n0 3500\n1000 4200\n"), kind);
    for comment in [
        "# t/ms R/kbps",
        "# ms-kbps",
        "# t_us",
        "# Time_MS",
        "# kbit",
        "# Mbit",
        "# seconds kbitps",
        "# time stamps in milli seconds",
        "# in milli-seconds",
        "# in Kilobit/s",
        "# seconds, bytes per second",
        "# seconds bits",
        "# seconds, MByte/s",
        "# time_s pkts",
        "# time unit: 100 ms",
        "# tick = 10 ms",
        "# step 100ms",
        "# resolution: 10 s",
        "# time in tenths of a second",
        "# rates in thousands of bits",
        "# timestamp throughput_kbps",
        "# unix_time bandwidth_kbps",
        "# time_ms rate_mbps (rate in kbit/s)",
        "# columns: t/ms, R/Mbps",
        "# time_millis",
        "# time (ms.)",
        "# milliseconds.",
        "# t:ms r:kbps",
        "# <ms> <kbps>",
        "# Zeit in Millisekunden, Rate in kbit/s",
        "# millisecondes ; kilo-octets par seconde",
        "# Kb/s",
        "# pkts/s",
        "# time (s), bandwidth (kbit)",
        "# s dBm",
        "# t(0.1s) r(Mbps)",
        "# time/10ms",
        "# time in 1/10 s",
        "# time s rate Mbps x10",
        "# s Mbit/s*8",
        "# rates: Mbps. times: deciseconds",
    ] {
        let error = found(comment, ALL).err().map_or_else(String::new, |error| error.to_string());
        assert!(
            error.contains("comment")
                || error.contains("expected names of columns")
                || error.contains("has no unit, or one that is not read"),
            "{comment}: {error}"
        );
    }
    for comment in
        ["# t_s jitter_us", "# seconds_since_start delay_in_us", "# t_s value", "# seconds", "# time/s value"]
    {
        assert!(found(comment, crate::jitter::TABLE).is_err(), "{comment}");
    }
    for comment in ["# ms percent", "# loss_pct", "# loss: 0..100", "# loss in per cent", "# in Prozent"] {
        assert!(
            Table::parse(&format!("{comment}\n0 0.5\n1000 1\n"), crate::loss::TABLE).is_err(),
            "{comment}"
        );
    }
    for comment in [
        "# Tom's trace of the second drive, two minutes of it",
        "# a bit of rain, 12 kB downloads every 100 ms",
        "# from us to you, 5 % of the lines were dropped",
        "# s Mbit/s",
        "# seconds, megabits per second",
        "# t [s] bw [MBit/sec]",
        "# https://example.org/traces?id=7",
        "# mean rate 12 Mbit/s, path delay 20 ms, covers 5 km in 60 s (12 Mbit/s at most)",
    ] {
        assert!(found(comment, ALL).is_ok(), "{comment}: {:?}", found(comment, ALL).err());
    }
    for comment in ["# timeMs rateKbps", "# units: {time: ms, rate: kbps}", "# Time in msec, Rate in Kbit/s"]
    {
        let times = found(comment, ALL).unwrap().times;
        assert_eq!(times.last().map(|time| time.as_nanos()), Some(1_000_000_000), "{comment}");
    }
}

#[test]
fn numbers_that_the_assumed_units_make_absurd_are_refused() {
    let error = |text: &str, kind| Table::parse(text, kind).unwrap_err().to_string();
    for (text, told) in [
        ("0 3500000\n1 4200000\n", "1: found \"0 3500000\": 3500000 Mbit/s are more than any link has;"),
        ("1526371200000 3.5\n", "1: found \"1526371200000 3.5\": \"1526371200000\" is above 18446744073 s;"),
        ("0,1\n0,10\n1,20\n", "1: found \"0,1\", as pandas numbers columns"),
        (",0,1\n0,0,10\n", "1: found \",0,1\", expected names of columns"),
    ] {
        let found = error(text, ALL);
        assert!(found.starts_with(told), "{found}");
    }
    assert!(
        error("1700000000.5 5\n", crate::jitter::TABLE).contains("1700000000 ms are more likely seconds")
    );
    assert!(Table::parse("1700000000 5\n1700000001 6\n", ALL).is_ok());
    assert!(Table::parse("0 1\n1 2\n", ALL).is_ok() && Table::parse("0,1\n1,20\n", ALL).is_ok());
}

/// The unit of a share cannot be written by R and MATLAB; a column that nobody reads proves nothing.
#[test]
fn marks_of_lost_units_and_other_columns() {
    let error = |text: &str| Table::parse(text, ALL).unwrap_err().to_string();
    for head in [
        "Loss....",
        "Loss___",
        "Loss.",
        "loss#",
        "loss /",
        "Loss (ratio)",
        "loss (per mille)",
        "delay (10 us)",
    ] {
        let found = error(&format!("time_s,rate_mbps,{head}\n0,1,0.5\n"));
        assert!(found.contains("has no unit, or one that is not read"), "{head}: {found}");
    }
    for head in ["loss per cent", "Loss (％)", "LOSS_PCT", "Loss (Prozent)"] {
        assert_eq!(read(&format!("time_s,{head}\n0,50\n")).1, [(Column::Loss, vec![0.5])], "{head}");
    }
    for head in [
        "Rate (MBit/s)",
        "\"Rate..Mbit.s.\"",
        "Rate_Mbit_s_",
        "Rate (Megabits per second)",
        "rate (Mbit s^-1)",
    ] {
        assert_eq!(read(&format!("time_s,{head}\n0,5\n")).1, [(Column::Rate, vec![5e6])], "{head}");
    }
    assert!(
        error("time_ms;rate_kbps;lat\n0;987;53.34981\n1000;1.234;53.34982\n")
            .contains("separator of thousands")
    );
    assert!(
        error("time_s\tnote\trate_mbps\tdelay_ms\n0\ta\t10\t5\n1\t\t20\t6\t7\n")
            .starts_with("3: found \"1\\t\\t20\\t6\\t7\": 5 values for the 4 columns")
    );
}

/// The other way round: seconds that are read as milliseconds.
#[test]
fn the_units_of_delays_without_names_are_milliseconds() {
    let read = |text: &str| Table::parse(text, crate::jitter::TABLE).map(|table| table.times.last().copied());
    let second = Some(Time::ZERO + Duration::from_secs(1));
    assert_eq!(read("# time_s delay_ms\n# run 2\n0 5\n1 50\n"), Ok(second));
    assert_eq!(read("# in ms\n# delays of LTE, 20 s apart\n0 5\n1000 50\n"), Ok(second));
    assert!(read("# time in seconds\n0 5\n1 50\n").is_err());
    assert!(read("# time (s), delay (s), both\n0 5\n1 50\n").is_err());
}

#[test]
fn units_in_names_are_used_or_refused() {
    let rates = |values: &[f64]| (vec![0, 1_000], vec![(Column::Rate, values.to_vec())]);
    for (head, factor) in
        [("Time (s),Rate (Mbit/s)", 1), ("Time (sec),Rate [kbit/s]", 1_000), ("time_s,rate_bps", 1_000_000)]
    {
        let text = format!("{head}\n0,{}\n1,{}\n", 5 * factor, 6 * factor);
        assert_eq!(read(&text), rates(&[5e6, 6e6]), "{head}");
    }
    assert_eq!(read("time_s,rate_gbps\n0,1\n1,2\n"), rates(&[1e9, 2e9]));
    assert_eq!(read("TIME (MS),RATE_MBPS\n0,1\n1000,2\n"), rates(&[1e6, 2e6]));
    for (head, cell) in
        [("Delay (ms)", 20.0), ("delay_s", 0.02), ("Delay (µs)", 20_000.0), ("delay in nsec", 2e7)]
    {
        assert_eq!(read(&format!("Time (s);{head}\n0;{cell}\n")).1, [(Column::Delay, vec![20e6])], "{head}");
    }
    for head in ["loss_percent", "Loss (%)", "loss%", "Loss [pct]"] {
        assert_eq!(read(&format!("time_s,{head}\n0,50\n")).1, [(Column::Loss, vec![0.5])], "{head}");
    }
    let error = |text: &str| Table::parse(text, ALL).unwrap_err().to_string();
    for head in ["Time (s),Rate (MBPS)", "time_s,-rate_mbps"] {
        assert!(
            error(&format!("{head}\n0,1\n")).contains("expected names of columns: one of time_ms"),
            "{head}"
        );
    }
    for head in [
        "Time (Ms),Rate (Mbps)",
        "time_MS,rate_mbps",
        "Time (min),rate_mbps",
        "time,bandwidth_mbps",
        "t,rate",
        "elapsed (h),rate_mbps",
    ] {
        let told = "has no unit, or one that is not read; expected one of time_ms, time_s, time_us, time_ns";
        let found = error(&format!("{head}\n0,1\n"));
        assert!(found.starts_with("1: column 1, ") && found.ends_with(told), "{head}: {found}");
    }
    for (head, known) in [
        ("Loss (‰)", "loss, loss_percent"),
        ("Delay (min)", "delay_ms, delay_s, delay_us, delay_ns"),
        ("delay_Ms", "delay_ms, delay_s, delay_us, delay_ns"),
    ] {
        let found = error(&format!("time_s,rate_mbps,{head}\n0,1,1\n"));
        let told =
            format!("1: column 3, {head:?}, has no unit, or one that is not read; expected one of {known}");
        assert_eq!(found, told);
    }
    for other in ["loss_count", "#loss", "±loss", "\u{2212}loss"] {
        let text = format!("time_s,rate_mbps,{other}\n0,1,1\n");
        assert_eq!(read(&text).1, [(Column::Rate, vec![1e6])], "{other}");
    }
}

#[test]
fn the_true_reason_is_told() {
    let error = |text: &str| Table::parse(text, ALL).unwrap_err().to_string();
    for (text, told) in [
        ("time_s,rate_mbps\n0,-1\n", "\"-1\" is below zero; expected a time in s, a rate in Mbit/s"),
        ("time_s,rate_mbps\n\"-1,000\",1\n", "\"-1,000\" is below zero;"),
        ("time_s,rate_mbps\n0,\u{2212}5\n", "is below zero;"),
        ("time_s,rate_mbps\n0,1e300\n", "\"1e300\" is above 18446744073709 Mbit/s;"),
        ("time_s,rate_mbps\n1e18,2\n", "\"1e18\" is above 18446744073 s;"),
        ("time_s,delay_ms\n0,4e6\n", "\"4e6\" is above 3600000 ms;"),
        ("time_s,loss\n0,1.5\n", "\"1.5\" is above 1; expected a time in s, a loss from 0 to 1"),
        ("time_s,Loss (%)\n0,101\n", "\"101\" is above 100 %;"),
        ("time_s,loss\n0,5%\n", "\"5%\" has a unit; write the number alone;"),
        ("time_s,rate_mbps\n0,10 Mbps\n", "\"10 Mbps\" has a unit;"),
        ("time_s,rate_mbps\n0,\"1,000\"\n", "\"1,000\" has a separator of thousands; write it without;"),
        ("time_s;rate_mbps\n0;1 000\n", "\"1 000\" has a separator of thousands; write it without;"),
        ("time_s,rate_mbps\n0,1'000'000\n", "\"1'000'000\" has a separator of thousands; write it without;"),
        ("time_s;rate_mbps\n0;1,5\n1;1.000\n", "\"1.000\" has a separator of thousands; write it without;"),
        (
            "time_ms;rate_kbps\n0;1.000\n1000;2.500\n",
            "\"1.000\" can have three decimals or a separator of thousands;",
        ),
        ("0;1,000\n1;2,000\n", "\"1,000\" can have three decimals or a separator of thousands;"),
        ("0\t1,000\n1\t2,000\n", "expected names of columns"),
        ("time_s,rate_mbps\n0,\n", "an empty cell;"),
        ("time_s,rate_mbps\n0,NA\n", "\"NA\" is not a number;"),
        ("time_s,rate_mbps\n0,nan\n", "\"nan\" is not a number;"),
        ("time_s,rate_mbps\n2024-01-01T00:00:00Z,1\n", "\"2024-01-01T00:00:00Z\" is not a number;"),
        (
            "time_s,rate_mbps\n1\n",
            "1 value for the 2 columns of line 1 (\"time_s\", \"rate_mbps\"), separated by commas;",
        ),
        (
            "time_s;rate_mbps\n0,10\n",
            "1 value for the 2 columns of line 1 (\"time_s\", \"rate_mbps\"), separated by semicolons;",
        ),
        (
            "time_s rate_mbps\n1 0 10\n",
            "3 values for the 2 columns of line 1 (\"time_s\", \"rate_mbps\"), separated by blanks; expected a name for each",
        ),
    ] {
        let found = error(text);
        assert!(found.contains(told), "{text:?}: {found}");
    }
}

/// Where a name has a separator in it, or a line was cut, the values of a line with fewer cells than names are those of other
/// columns. A tab-separated line was split again at blanks.
#[test]
fn lines_with_fewer_cells_are_refused() {
    let error = |text: &str| Table::parse(text, ALL).map(|_| text.to_owned()).unwrap_err().to_string();
    for (text, told) in [
        (
            "pos (lat, lon),time_s,rate_mbps,rsrp\n51,0,10,90\n",
            "2: found \"51,0,10,90\": 4 values for the 5 columns of line 1 (\"pos (lat\", \"lon)\", ",
        ),
        ("pos (lat, lon),time_s,rate_mbps,rsrp\n51,0,10,90\n", "expected quotes around a name"),
        ("Loss, %,time_s,rate_mbps,x\n1,0,10,5\n", "4 values for the 5 columns"),
        ("date, time,time_s,rate_mbps,rsrp,rsrq\n2024,0,10,90,9\n", "5 values for the 6 columns"),
        ("time_s,rate_mbps,rsrp,cell\n0,100,-90,1\n2,14", "3: found \"2,14\": 2 values for the 4 columns"),
        ("time_s,rate_mbps,note\n0,100,x\n2,14\n", "3: found \"2,14\": 2 values for the 3 columns"),
        ("time_s\trate_kbps\tnote\n0\t12 500\n", "2 values for the 3 columns"),
        ("time_s\tcell\trate_kbps\n0\t310 26\t\n", "an empty cell"),
        ("time_s\tgps\trate_mbps\n0\t51 13\n", "2 values for the 3 columns"),
    ] {
        let found = error(text);
        assert!(found.contains(told), "{text}: {found}");
    }
}

#[test]
fn common_names_of_times_and_rates_are_read() {
    let expected = (vec![0, 1_000], vec![(Column::Rate, vec![10e6, 20e6])]);
    for head in [
        "Time (s),Throughput (Mbps)",
        "time_s,bandwidth_mbps",
        "Elapsed Time (s),DL bitrate [Mbit/s]",
        "seconds,Download (Mbit/s)",
        "t_s,BW_MBPS",
        "timestamp (sec),Link capacity (Mb/s)",
    ] {
        assert_eq!(read(&format!("{head}\n0,10\n1,20\n")), expected, "{head}");
    }
    assert_eq!(read("timestamp_ms,goodput_kbps\n0,10000\n1000,20000\n"), expected);
    assert_eq!(read("# t_ms bw_kbps\n0 10000\n1000 20000\n"), expected);
    let table = Table::parse("timestamp_ms,time_s,rate_mbps,uplink_mbps\n5,0,10,1\n9,1,20,1\n", ALL).unwrap();
    assert_eq!(table.columns, expected.1);
    assert!(table.notes()[0].contains("\"timestamp_ms\", \"uplink_mbps\""), "{:?}", table.notes());
    let error = |text: &str| Table::parse(text, ALL).map(|_| text.to_owned()).unwrap_err().to_string();
    for (head, told) in [
        ("time_s,Download (Mbps),Upload (Mbps)", "leave the other out"),
        (
            "time_s,download_mbps,upload_kbps",
            "column 2, \"download_mbps\", and column 3, \"upload_kbps\", both have rates",
        ),
        ("timestamp_ms,elapsed_s,rate_mbps", "both have times"),
        ("time_s,throughput,delay_ms", "column 2, \"throughput\", has no unit"),
        ("time_s,Throughput (MB/s)", "expected names of columns"),
        ("time_s,max_rate_mbps", "expected names of columns"),
    ] {
        let found = error(
            &format!("{head}\n0,1,2\n")
                .replace(",2\n", if head.matches(',').count() > 1 { ",2\n" } else { "\n" }),
        );
        assert!(found.contains(told), "{head}: {found}");
    }
}

#[test]
fn points_beside_whole_numbers_may_separate_thousands() {
    for sign in [",", "\t", " ", ";"] {
        let text = "time_s rate_kbps\n0 1.000\n1 12.500\n2 900\n".replace(' ', sign);
        let found = Table::parse(&text, ALL).map(|_| sign).unwrap_err().to_string();
        assert!(found.contains("can have three decimals or a separator of thousands"), "{sign}: {found}");
    }
    assert_eq!(read("time_s,rate_mbps\n0,1.000\n1,2.500\n").1, [(Column::Rate, vec![1e6, 2.5e6])]);
    assert_eq!(read("time_s,rate_mbps\n0,1.000\n1,2\n2,0.5\n").1, [(Column::Rate, vec![1e6, 2e6, 5e5])]);
}

#[test]
fn comments_that_contradict_names_or_the_usual_order_are_refused() {
    let error = |text: &str| Table::parse(text, ALL).map(|_| text.to_owned()).unwrap_err().to_string();
    for comment in ["rate in kbps", "time_ms rate_kbps", "time in ms", "rates multiplied by 8", "Mbps x 10"] {
        let found = error(&format!("# {comment}\ntime_s,rate_mbps\n0,10\n1,20\n"));
        assert!(
            found.contains("the comment in line 1 has ")
                && found.contains("the names of the columns do not say"),
            "{found}"
        );
    }
    for comment in
        ["rate in Mbps", "12 Mbit/s for 60 s", "RSRP in dBm", "what and when", "covers 5 km in 60 s"]
    {
        let text = format!("# {comment}\ntime_s,rate_mbps\n0,10\n1,20\n");
        assert_eq!(read(&text).1, [(Column::Rate, vec![10e6, 20e6])], "{comment}");
    }
    for comment in [
        "multiplied by 1000",
        "scaled by 1000",
        "rate x 1e3",
        "(in 1e-3 s)",
        "packets per second",
        "frames/s",
        "MTU-sized packets",
        "时间 毫秒",
        "время, мс",
        "Mbps s",
        "throughput time",
        "rate, t",
    ] {
        assert!(
            error(&format!("# {comment}\n0 10\n1 20\n")).contains("the comment in line 1 has "),
            "{comment}"
        );
    }
}

#[test]
fn signs_in_names_and_lines_of_one_time_are_refused() {
    let error = |text: &str| Table::parse(text, ALL).map(|_| text.to_owned()).unwrap_err().to_string();
    for name in [
        "\u{2206}rate_mbps",
        "√rate_mbps",
        "∑rate_mbps",
        "rate_mbps ±",
        "rate_mbps'",
        "|rate_mbps|",
        "<rate_mbps",
        "~rate_mbps",
    ] {
        assert!(
            error(&format!("time_s,{name}\n0,10\n1,20\n")).contains("expected names of columns"),
            "{name}"
        );
    }
    assert!(
        error("time_ms,rate_mbps\n1.70E+12,10\n1.70E+12,20\n").contains("all 2 lines have the same time")
    );
    assert!(error("time_s,rate_mbps\n0,10\n#REF!,20\n1,30\n").starts_with("3: found \"#REF!,20\""));
}

/// R's write.table, matlab's tabs and blanks, a note of two lines, Excel's `sep=`.
#[test]
fn forms_of_other_tools_are_read() {
    let expected = (vec![0, 1_000, 2_000], vec![(Column::Rate, vec![10e6, 20e6, 30e6])]);
    for text in [
        "\"time_s\" \"rate_mbps\"\n\"1\" 0 10\n\"2\" 1 20\n\"3\" 2 30\n",
        "time_s rate_mbps\na 0 10\nb 1 20\nc 2 30\n",
        "\"time_s\",\"rate_mbps\"\n\"1\",0,10\n\"2\",1,20\n\"3\",2,30\n",
        "0 \t 10\n  1\t20  \n2\t   30\n",
        "\t0\t10\n\t1\t20\n\t2\t30\n",
        "time_s,rate_mbps,note\n0,10,\"a\nb\"\n1,20,x\n2,30,\"\"\n",
        "\"time\n(s)\",\"rate (Mbps)\"\n0,10\n1,20\n2,30\n",
        "note,time_s,rate_mbps\n6\" a,0,10\n\"b\n\nc, d\",1,20\n7\" e,2,30\n",
        "sep=;\r\ntime_s;rate_mbps\r\n0;10\r\n1;20\r\n2;30\r\n",
        "time_s\trate_mbps\n0\t10,0\n1\t20\n2,0\t30\n",
        "time_s;rate_mbps\n0.000;10.000\n1.000;20.000\n2.000;30.000\n",
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    let found = Table::parse("time_s,rate_mbps,note\n0,10,\"a\nb\"\n1,x,c\n", ALL).unwrap_err().to_string();
    assert!(found.starts_with("4: found \"1,x,c\": \"x\" is not a number"), "{found}");
}

/// Pensieve's own traces have 15 decimals; numpy writes 18, and an exponent.
#[test]
fn values_that_are_too_fine_are_rounded_and_it_is_told() {
    let table = Table::parse("0.0 4.03768755221\n0.500 3.5\n1.0000000004 2.0\n", ALL).unwrap();
    assert_eq!(table.columns[0].1, [4_037_688.0, 3_500_000.0, 2_000_000.0]);
    assert_eq!(table.times[2], Time::from_nanos(1_000_000_000));
    let assumed = "the columns have no names: read as time_s and rate_mbps";
    assert_eq!(table.notes(), [assumed, "2 of 3 lines rounded to 1 bit/s and 1 ns; the first is line 1"]);
    let kilo = Table::parse("time_ms,rate_kbps,x\n0,1.2345,\n1,2,\n1,3,\n", ALL).unwrap();
    assert_eq!(kilo.columns[0].1, [1_235.0, 2_500.0]);
    assert_eq!(
        kilo.notes(),
        [
            "skipped a column that is not needed: \"x\"",
            "1 of 3 lines with the time of the line before: the mean is taken; the first is line 4",
            "1 of 3 lines rounded to 1 bit/s and 1 ns; the first is line 2",
        ]
    );
    assert_eq!(Table::parse("0 1\n", ALL).unwrap().notes(), [assumed]);
    assert_eq!(Table::parse("# time_s rate_mbps\n0 1\n", ALL).unwrap().notes(), [""; 0]);
    let fast = Table::parse("time_s,rate_mbps\n0,1\n1,12000000\n2,13000000\n", ALL).unwrap().notes();
    assert_eq!(fast, ["line 3: 12000000 Mbit/s are more than any link has"]);
    let epoch =
        Table::parse("time_ms,loss\n1700000000,0\n1700000001,1\n", crate::loss::TABLE).unwrap().notes();
    assert_eq!(epoch, ["line 2: 1700000000 ms are more likely seconds since 1970"]);
    let jitter = Table::parse("0 1\n", crate::jitter::TABLE).unwrap().notes();
    assert_eq!(jitter, ["the columns have no names: read as time_ms and delay_ms"]);
}
