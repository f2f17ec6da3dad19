//! Channels against closed forms and values by hand.

use super::*;
use random::Generator;
use units::Duration;

fn seconds(value: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(value)
}

#[test]
fn free_space_loses_38_46_db_in_the_first_metre_at_2_ghz() {
    // 20 log10(4 pi 2e9 / 299792458) = 20 log10(83.83) = 38.47.
    let loss = PathLoss::from_carrier(2e9, 1.0, 3.5);
    assert!((loss.reference_db - 38.47).abs() < 0.005, "{loss:?}");
    assert!((loss.db(100.0) - (loss.reference_db + 70.0)).abs() < 1e-9);
    assert_eq!(loss.db(0.1), loss.reference_db);
}

#[test]
fn noise_in_20_mhz_with_a_figure_of_9_db() {
    // -174 + 73.01 + 9.
    assert!((noise_dbm(20_000_000, 9.0) + 91.99).abs() < 0.001);
}

#[test]
fn a_link_adds_its_parts() {
    let path_loss = PathLoss { reference_db: 40.0, reference_m: 1.0, exponent: 3.0 };
    // From 400 m before to 300 m beside the station: 500 m, then 300 m after 40 s at 10 m/s.
    let motion = Motion { start_m: -400.0, offset_m: 300.0, speed_m_s: 10.0 };
    let link = Link { power_dbm: 40.0, noise_dbm: -95.0, motion, path_loss, shadowing: None, fading: None };
    let mut channel = Channel::link(link);
    // 40 + 95 - 40 - 30 log10(500) = 95 - 80.97, and 95 - 30 log10(300) = 95 - 74.31.
    assert!((channel.sinr_db(Time::ZERO) - 14.03).abs() < 0.005);
    assert!((channel.sinr_db(seconds(40.0)) - 20.69).abs() < 0.005);
    assert_eq!(Channel::constant(7.5).sinr_db(seconds(3.0)), 7.5);
}

#[test]
fn a_series_is_held_or_linear() {
    let text = "# time and SINR\n1 10\n3\t20\n";
    let mut held = Series::parse(text, Between::Held, 0, 1).unwrap();
    let mut linear = Series::parse(text, Between::Linear, 0, 1).unwrap();
    let times = [0.0, 1.0, 1.5, 2.5, 3.0, 9.0, 1.5];
    assert_eq!(times.map(|at| held.at(seconds(at))), [10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 10.0]);
    assert_eq!(times.map(|at| linear.at(seconds(at))), [10.0, 10.0, 12.5, 17.5, 20.0, 20.0, 12.5]);
}

#[test]
fn a_bad_series_names_its_line() {
    let error = |text: &str| Series::parse(text, Between::Held, 0, 1).unwrap_err();
    assert_eq!(error(""), SeriesError::Count(0));
    let line = |line, text: &str| SeriesError::Line(line, text.to_owned());
    let other = "2 values of SINR; expected one for all sites, or one for each of 1";
    assert_eq!(error("0 1\n1 2 3"), line(2, other));
    let range = "expected a time and -300 to 300 dB";
    assert_eq!(
        error("0 inf"),
        line(
            1,
            "found \"0 inf\", expected one of time_s, time_ms, time_us, time_ns, and SINR, SNR or CINR in dB, one for all sites, or one for each with its number, like sinr_1, sinr_2"
        )
    );
    assert_eq!(error("0 1\n1 inf"), line(2, &format!("\"inf\" is not a number; {range}")));
    assert_eq!(error("0 1\n-1 5"), line(2, &format!("\"-1\" is below zero; {range}")));
    assert_eq!(error("0 -301"), line(1, "\"301\" is out of range; expected -300 to 300 dB"));
    assert_eq!(error("0 1\n\n0 2"), SeriesError::Order(3));
    assert!(matches!(error("time_s,note\n0,1"), SeriesError::Line(1, _)));
    assert!(matches!(error("time_s,time_ms,sinr_db\n0,0,1"), SeriesError::Line(1, _)));
    let late = "\"1700000000\" is 10^9 s or more; expected times from the start of the run, not since 1970";
    assert_eq!(error("time_s,sinr_db\n1700000000,20\n"), line(2, late));
    assert_eq!(error("1700000000,20\n"), line(1, late));
    assert_eq!(Series::notes("0 1 2\n"), ["the columns have no names: read as seconds and dB"]);
    let bare = Series::notes("time_s,SINR\n0,100\n");
    assert_eq!(bare, ["column \"SINR\" states no unit: read as dB"]);
    let notes = Series::notes("note,sinr_db,time_ms\na,1,0\n");
    assert_eq!(notes, ["skipped a column that is not needed: \"note\""]);
    for text in [
        "0 -1.5\n2 3\n",
        "\u{feff}Time_s;SINR (dB);note\r\n0;-1,5;a\r\n2;3;b\r\n",
        "note,sinr_db,time_ms\na,-1.5,0\nb,3,2000\n",
        "# time_s sinr\n0.0e+00 -1.5e+00\n2.0e+00 3.0e+00\n",
    ] {
        let mut series = Series::parse(text, Between::Held, 0, 1).unwrap();
        assert_eq!([1.0, 2.0].map(|at| series.at(seconds(at))), [-1.5, 3.0], "{text}");
    }
}

/// Other values in dB were taken for the SINR, and milliseconds for seconds.
#[test]
fn only_columns_of_sinr_in_db_are_read() {
    let at = |text: &str| Series::parse(text, Between::Held, 0, 1).map(|mut series| series.at(seconds(1.0)));
    for head in [
        "RSRQ (dB)",
        "pathloss_db",
        "noise figure (dB)",
        "tx power (dB)",
        "rsrp_dbm",
        "sinr (linear)",
        "sinr_ratio",
        "sinr_mdb",
        "sinr_cdb",
        "delta_sinr",
        "sinr_db*10",
        "sinr_db_x10",
        "sinr (dB x 10)",
        "snr_margin_db",
        "required SNR (dB)",
        "SINR [0.1 dB]",
        "psnr_db",
        "psnr",
        "sinr_rank",
        "snr_age_s",
        "sinr_rx0",
        "sinr_dl",
        "sinr_min",
        "SINR smoothed (dB)",
        "|SINR|",
        "SINR (dBm)",
    ] {
        assert!(matches!(at(&format!("time_s,{head}\n0,7\n1,7\n")), Err(SeriesError::Line(1, _))), "{head}");
        assert_eq!(at(&format!("time_s,{head},SINR\n0,7,3\n1,7,3\n")), Ok(3.0), "{head}");
    }
    for head in ["SINR", "SINR (dB)", "nr_ssSinr", "rssnr", "SNR [dB]", "CINR", "SINRdB", "dB", "sinr_1_db"] {
        assert_eq!(at(&format!("time_s,{head}\n0,7\n1,7\n")), Ok(7.0), "{head}");
    }
    for comment in ["SINR in 0.1 dB", "SINR x10", "SINR x 10", "SINR multiplied by 10", "linear, time in ms"]
    {
        assert!(
            matches!(at(&format!("# {comment}\ntime_s,SINR\n0,70\n1,70\n")), Err(SeriesError::Line(..))),
            "{comment}"
        );
    }
    assert_eq!(at("# SINR in dB, drive 2\ntime_s,SINR\n0,7\n1,7\n"), Ok(7.0));
    let two = |head: &str| Series::parse(&format!("time_s,{head}\n0,1,2\n1,1,2\n"), Between::Held, 1, 2);
    for sites in ["sinr_1,sinr_2", "SINR site1 (dB),SINR site2 (dB)", "sinr_db_1,sinr_db_2"] {
        assert_eq!(two(sites).map(|mut series| series.at(seconds(1.0))), Ok(2.0), "{sites}");
    }
    assert!(Series::notes("time_s,sinr_db_1,sinr_db_2\n0,1,2\n").is_empty());
    for others in ["snr_db,sinr_db", "SINR,avg_sinr"] {
        assert!(matches!(two(others), Err(SeriesError::Line(1, _))), "{others}");
    }
    assert_eq!(at("# timestamp_ms sinr_db\n0 20\n1000 0\n"), Ok(0.0));
    assert_eq!(at("# t_ms snr\n0 20\n1000 0\n"), Ok(0.0));
    assert_eq!(at("# ms dB\n0 20\n1000 0\n").ok(), None);
    assert_eq!(at("# time in seconds, SINR in dB\n0 20\n1 0\n"), Ok(0.0));
}

#[test]
fn shadowing_has_its_deviation_and_correlation() {
    let mut shadowing = Shadowing::new(8.0, 50.0, Generator::new(1, "shadowing"));
    // 200,000 points, 25 m apart: neighbours correlate by exp(-0.5) = 0.607, every fourth by exp(-2) = 0.135.
    let values: Vec<f64> = (0..200_000).map(|point| shadowing.db(25.0 * f64::from(point))).collect();
    let product = |lag: usize| {
        values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum::<f64>() / (values.len() - lag) as f64
    };
    let variance = product(0);
    assert!((variance.sqrt() - 8.0).abs() < 0.08, "{}", variance.sqrt());
    assert!((product(1) / variance - 0.607).abs() < 0.01, "{}", product(1) / variance);
    assert!((product(4) / variance - 0.135).abs() < 0.015, "{}", product(4) / variance);
    let last = shadowing.db(25.0 * 199_999.0);
    assert_eq!(shadowing.db(0.0), last);
}

#[test]
fn shadowing_does_not_depend_on_where_it_is_asked_for() {
    let shadowing = || Shadowing::new(6.0, 20.0, Generator::new(3, "shadowing"));
    let (mut fine, mut coarse) = (shadowing(), shadowing());
    let mut before = fine.db(0.0);
    for metre in 1..2_000 {
        let mut fine_db = before;
        for part in 0..10 {
            fine_db = fine.db(f64::from(metre) - 0.9 + 0.1 * f64::from(part));
            // Points are 2 m apart, whose values hardly ever differ by more than 4 deviations.
            assert!((fine_db - before).abs() < 4.0 * 6.0 * 0.43 / 10.0, "{metre} {before} {fine_db}");
            before = fine_db;
        }
        if metre % 7 == 0 {
            assert!((fine_db - coarse.db(f64::from(metre))).abs() < 1e-9, "{metre}");
        }
    }
}

/// The powers of 400 terminals with a Doppler frequency of 100 Hz, at 1,000 times, 0.1 ms apart.
fn powers() -> Vec<Vec<f64>> {
    let terminal = |seed| {
        let fading = Fading::new(100.0, Generator::new(seed, "fading"));
        (0..1_000).map(|step| fading.power(Time::from_nanos(step * 100_000))).collect()
    };
    (0..400).map(terminal).collect()
}

#[test]
fn the_power_of_fading_is_exponential_with_mean_1() {
    let powers = powers();
    let share =
        |limit: f64| powers.iter().flatten().filter(|power| **power < limit).count() as f64 / 400_000.0;
    let mean = powers.iter().flatten().sum::<f64>() / 400_000.0;
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
    for limit in [0.1f64, 0.5, 1.0, 2.0] {
        let expected = 1.0 - (-limit).exp();
        assert!((share(limit) - expected).abs() < 0.015, "{limit}: {} {expected}", share(limit));
    }
}

#[test]
fn the_power_of_fading_forgets_as_the_square_of_j0() {
    let powers = powers();
    // J0(x) for x = 2 pi 100 Hz tau: 0 at 2.405 (tau 3.83 ms), -0.403 at 3.83 (6.1 ms); 0.9037 at 0.628 (1 ms).
    for (lag, j0) in [(10, 0.903_7f64), (38, 0.0), (61, -0.402_8)] {
        let (mut product, mut count) = (0.0, 0.0);
        for terminal in &powers {
            for (one, other) in terminal.iter().zip(&terminal[lag..]) {
                product += (one - 1.0) * (other - 1.0);
                count += 1.0;
            }
        }
        let correlation = product / count;
        assert!((correlation - j0 * j0).abs() < 0.06, "{lag}: {correlation} {}", j0 * j0);
    }
}

#[test]
fn fading_crosses_levels_as_often_as_rice_says() {
    let powers = powers();
    for level in [0.3f64, 1.0] {
        let upward = |terminal: &Vec<f64>| {
            terminal.windows(2).filter(|two| two[0] < level * level && two[1] >= level * level).count()
        };
        let rate = powers.iter().map(upward).sum::<usize>() as f64 / (400.0 * 0.099_9);
        // sqrt(2 pi) f_d rho exp(-rho^2).
        let expected = std::f64::consts::TAU.sqrt() * 100.0 * level * (-level * level).exp();
        assert!((rate / expected - 1.0).abs() < 0.05, "{level}: {rate} {expected}");
    }
}

#[test]
fn fading_is_a_function_of_time_and_stream() {
    let fading = Fading::new(doppler_hz(30.0, 2e9), Generator::new(3, "fading"));
    let power = fading.power(seconds(1.0));
    fading.power(seconds(2.0));
    assert_eq!(fading.power(seconds(1.0)), power);
    assert_ne!(Fading::new(200.0, Generator::new(4, "fading")).power(seconds(1.0)), power);
    // 30 m/s at 2 GHz: 200.1 Hz.
    assert!((doppler_hz(30.0, 2e9) - 200.14).abs() < 0.01);
}

/// Milliseconds were read as seconds if another comment followed.
#[test]
fn the_unit_of_times_is_that_of_the_file() {
    let last = |text: &str| {
        let mut series =
            Series::parse(text, Between::Held, 0, 1).unwrap_or_else(|error| panic!("{text}: {error}"));
        [series.at(seconds(0.999)), series.at(seconds(1.0))]
    };
    for text in [
        "# time_ms sinr_db\n# recorded by x\n0 1\n1000 2\n",
        "# time_s sinr_db\n# x\n0 1\n1 2\n",
        "Time (us),SINR (dB)\n0,1\n1000000,2\n",
        "time_ns;sinr_db\n0;1\n1000000000;2,0\n",
    ] {
        assert_eq!(last(text), [1.0, 2.0], "{text}");
    }
    for text in [
        "# time in ms\n0 1\n",
        "# time_ms and more\n0 1\n",
        "Time (Ms),sinr_db\n0,1\n",
        "time,sinr_db\n0,1\n",
    ] {
        assert!(matches!(Series::parse(text, Between::Held, 0, 1), Err(SeriesError::Line(..))), "{text}");
    }
}

#[test]
fn a_series_has_a_value_for_all_sites_or_one_for_each() {
    let at = |text: &str, site| {
        Series::parse(text, Between::Held, site, 3).map(|mut series| series.at(seconds(1.0)))
    };
    assert_eq!([0, 1, 2].map(|site| at("0 10 5 -3\n", site)), [Ok(10.0), Ok(5.0), Ok(-3.0)]);
    assert_eq!([0, 1, 2].map(|site| at("0 10\n", site).unwrap()), [10.0; 3]);
    let told = "2 values of SINR; expected one for all sites, or one for each of 3";
    assert_eq!(at("0 10 5\n", 0), Err(SeriesError::Line(1, told.to_owned())));
}

#[test]
fn other_sites_interfere_by_their_share() {
    let path_loss = PathLoss { reference_db: 40.0, reference_m: 1.0, exponent: 3.0 };
    let site = |distance_m| {
        let motion = Motion::still(distance_m);
        Channel::link(Link {
            power_dbm: 40.0,
            noise_dbm: -100.0,
            motion,
            path_loss,
            shadowing: None,
            fading: None,
        })
    };
    // Received are 0 - 30 log10(100) = -60, and -60 - 9.03 = -69.03 dBm.
    let sinr = |share| Sites::new(vec![site(100.0), site(200.0)], share).sinr_db(0, Time::ZERO);
    assert!((sinr(0.0) - 40.0).abs() < 1e-9);
    // The noise of -100 dBm does not matter beside -69.03 dBm, or half of it.
    assert!((sinr(1.0) - 9.03).abs() < 0.01, "{}", sinr(1.0));
    assert!((sinr(0.5) - 12.04).abs() < 0.01, "{}", sinr(0.5));
    let mut sites = Sites::new(vec![site(100.0), site(200.0)], 1.0);
    assert!((sites.sinr_db(1, Time::ZERO) + 9.03).abs() < 0.01);
}
