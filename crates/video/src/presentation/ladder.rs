//! Presentations without a file: a ladder of bitrates, segments of equal duration, sizes constant or drawn.

use super::{
    Fault, Kind, MAX_PERIODS, MAX_SEGMENT_BYTES, MAX_SEGMENTS, MAX_SIZES, Period, Presentation,
    PresentationError, Representation, Source, Track, TrackError, constant_bytes,
};
use random::{Generator, Law};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Rate, Size};

/// The options of ladders.
#[derive(Debug, Clone, Options)]
struct LadderOptions {
    /// mean bitrates of the video's representations, rising; by default those of Big Buck Bunny in the BOLA paper
    #[option(default = [
        "230 kbit/s", "331 kbit/s", "477 kbit/s", "688 kbit/s", "991 kbit/s", "1427 kbit/s", "2056 kbit/s",
        "2962 kbit/s", "5027 kbit/s", "6000 kbit/s",
    ])]
    bitrates: Vec<Rate>,
    /// duration of a segment of video; the last one of a period may be shorter
    #[option(default = "3 s")]
    segment: Duration,
    /// duration of the presentation
    #[option(default = "600 s")]
    duration: Duration,
    /// periods of equal duration
    #[option(default = 1, within = 1..=MAX_PERIODS as u64)]
    periods: u64,
    /// coefficient of variation of the sizes of video (log-normal, the same factor in all representations); 0 for
    /// constant sizes
    #[option(default = 0, within = 0.0..=3.0)]
    variation: f64,
    /// height of each representation of video in pixels; the width is 16/9 of it, rounded to an even number
    #[option(within = 1..=10_000)]
    heights: Option<Vec<u32>>,
    /// bitrates of the sound's representations, rising; without it there is no sound
    audio: Option<Vec<Rate>>,
    /// duration of a segment of sound; without it that of video
    audio_segment: Option<Duration>,
    /// bytes of the initialization segment of each representation; 0 for none
    #[option(default = "0 B")]
    initialization: Size,
}

pub(super) const ROW: Row<Source> = Row {
    name: "ladder",
    about: "a ladder of bitrates with segments of equal duration, of constant or drawn sizes",
    parameters: LadderOptions::PARAMETERS,
    build: Source { build, notes: |_| Vec::new() },
};

fn build(arguments: &Arguments, stream: &mut Generator) -> Result<Presentation, Fault> {
    let options = LadderOptions::of(arguments);
    let spans = spans(&options)?;
    let video = Ladder {
        kind: Kind::Video,
        option: "bitrates",
        resolutions: resolutions(&options)?,
        bitrates: options.bitrates,
        segment: options.segment,
        initialization: options.initialization.as_bytes(),
    };
    let mut complexity = Complexity::of(options.variation, stream)?;
    let mut tracks = vec![video.tracks(&spans, "segment", &mut complexity)?];
    if let Some(bitrates) = options.audio {
        let audio = Ladder {
            kind: Kind::Audio,
            option: "audio",
            bitrates,
            segment: options.audio_segment.unwrap_or(video.segment),
            resolutions: None,
            ..video
        };
        let option = if options.audio_segment.is_some() { "audio_segment" } else { "segment" };
        tracks.push(audio.tracks(&spans, option, &mut Complexity::Equal)?);
    } else if options.audio_segment.is_some() {
        return Err(("audio_segment", "there is no sound without bitrates in \"audio\"".to_owned()));
    }
    let mut of_periods: Vec<Period> = spans.iter().map(|_| Period { tracks: Vec::new() }).collect();
    for track in tracks {
        of_periods.iter_mut().zip(track).for_each(|(period, track)| period.tracks.push(track));
    }
    Presentation::new(of_periods).map_err(|error| (option_of(&error), error.to_string()))
}

/// The option that an error in the presentation comes from.
fn option_of(error: &PresentationError) -> &'static str {
    match error {
        PresentationError::Segments(Kind::Video) | PresentationError::Sizes => "segment",
        PresentationError::Segments(Kind::Audio) => "audio_segment",
        PresentationError::Periods(_) | PresentationError::Kinds(_) => "periods",
        PresentationError::Duration => "duration",
        PresentationError::Track(_, _, TrackError::Initialization(_)) => "initialization",
        PresentationError::Track(_, Kind::Video, _) => "bitrates",
        PresentationError::Track(_, Kind::Audio, _) => "audio",
    }
}

/// The duration of each period.
fn spans(options: &LadderOptions) -> Result<Vec<Duration>, Fault> {
    let (whole, periods) = (options.duration, options.periods);
    if whole > super::MAX_DURATION {
        return Err(("duration", PresentationError::Duration.to_string()));
    }
    if whole.as_nanos() < periods {
        return Err(("duration", format!("{whole} is too short for {periods} periods")));
    }
    Ok((0..periods).map(|at| whole.scale(at + 1, periods) - whole.scale(at, periods)).collect())
}

fn resolutions(options: &LadderOptions) -> Result<Option<Vec<(u32, u32)>>, Fault> {
    let Some(heights) = &options.heights else { return Ok(None) };
    let bitrates = options.bitrates.len();
    if heights.len() != bitrates {
        return Err(("heights", format!("{} heights for {bitrates} bitrates", heights.len())));
    }
    // The even number next to height * 16 / 9.
    let resolution = |height: &u32| ((2 * ((height * 8 + 4) / 9)).max(2), *height);
    Ok(Some(heights.iter().map(resolution).collect()))
}

/// The track of a kind in all periods.
#[derive(Debug)]
struct Ladder {
    kind: Kind,
    /// The option with the bitrates.
    option: &'static str,
    bitrates: Vec<Rate>,
    segment: Duration,
    resolutions: Option<Vec<(u32, u32)>>,
    initialization: u64,
}

impl Ladder {
    /// The track in each period; `segment_option` has the duration of a segment.
    fn tracks(
        &self,
        spans: &[Duration],
        segment_option: &'static str,
        complexity: &mut Complexity,
    ) -> Result<Vec<Track>, Fault> {
        if self.segment.is_zero() {
            return Err((segment_option, "expected a duration above zero".to_owned()));
        }
        let count: u64 = spans
            .iter()
            .map(|span| span.as_nanos().div_ceil(self.segment.as_nanos()))
            .fold(0, u64::saturating_add);
        if count > MAX_SEGMENTS as u64 {
            return Err((segment_option, format!("{count} segments; expected at most {MAX_SEGMENTS}")));
        }
        let representations = self.bitrates.len();
        if representations == 0 || representations > super::MAX_REPRESENTATIONS {
            let most = super::MAX_REPRESENTATIONS;
            return Err((self.option, format!("{representations} bitrates; expected 1 to {most}")));
        }
        if count as usize * representations > MAX_SIZES {
            return Err((segment_option, PresentationError::Sizes.to_string()));
        }
        let largest = self.bitrates.iter().map(|bitrate| constant_bytes(*bitrate, self.segment)).max();
        if largest.is_some_and(|largest| largest > MAX_SEGMENT_BYTES) {
            return Err((segment_option, format!("a segment of more than {MAX_SEGMENT_BYTES} bytes")));
        }
        Ok(spans.iter().map(|span| self.track(*span, complexity)).collect())
    }

    fn track(&self, span: Duration, complexity: &mut Complexity) -> Track {
        let mut durations = Vec::new();
        let mut left = span;
        while !left.is_zero() {
            durations.push(left.min(self.segment));
            left -= self.segment;
        }
        let factors: Vec<Option<f64>> = durations.iter().map(|_| complexity.next()).collect();
        let size = |bitrate: Rate, duration: Duration, factor: Option<f64>| match factor {
            None => constant_bytes(bitrate, duration),
            Some(factor) => {
                let mean = bitrate.as_bits_per_sec() as f64 * duration.as_secs_f64() / 8.0;
                // Both bounds are far below 2^53.
                (mean * factor).round().clamp(1.0, MAX_SEGMENT_BYTES as f64) as u64
            }
        };
        let representation = |(at, bitrate): (usize, &Rate)| Representation {
            id: format!("{}{}", self.kind.name(), at + 1),
            bitrate: *bitrate,
            resolution: self.resolutions.as_ref().map(|all| all[at]),
            initialization: self.initialization,
            sizes: durations
                .iter()
                .zip(&factors)
                .map(|(span, factor)| size(*bitrate, *span, *factor))
                .collect(),
        };
        let representations = self.bitrates.iter().enumerate().map(representation).collect();
        Track { kind: self.kind, durations, representations }
    }
}

/// How many bytes the pictures of a segment take, relative to the mean.
#[derive(Debug)]
enum Complexity {
    Equal,
    /// Log-normal of mean 1.
    Drawn(random::Bounded, Generator),
}

impl Complexity {
    fn of(variation: f64, stream: &mut Generator) -> Result<Complexity, Fault> {
        if variation == 0.0 {
            return Ok(Complexity::Equal);
        }
        // exp(mu + sigma^2 / 2) = 1, exp(sigma^2) - 1 = variation^2.
        let variance = (variation * variation).ln_1p();
        let law = Law::LogNormal { mu: -variance / 2.0, sigma: variance.sqrt() }.unbounded();
        let law = law.map_err(|error| ("variation", error.to_string()))?;
        Ok(Complexity::Drawn(law, stream.fork("complexity")))
    }

    fn next(&mut self) -> Option<f64> {
        match self {
            Complexity::Equal => None,
            Complexity::Drawn(law, stream) => Some(law.draw(stream)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::built;
    use super::*;

    fn ladder(set: &[(&str, &str)]) -> Presentation {
        built(&ROW, set, 1).unwrap()
    }

    #[test]
    fn the_default_is_the_ladder_of_big_buck_bunny() {
        let presentation = ladder(&[]);
        let [period] = &presentation.periods[..] else { panic!("one period") };
        let [video] = &period.tracks[..] else { panic!("one track") };
        assert_eq!((video.kind, video.durations.len(), video.representations.len()), (Kind::Video, 200, 10));
        assert_eq!(presentation.duration(), Duration::from_secs(600));
        // 230,000 bit/s * 3 s / 8.
        assert!(video.representations[0].sizes.iter().all(|size| *size == 86_250));
        assert_eq!(video.representations[9].sizes[0], 2_250_000);
        assert_eq!(video.representations[9].id, "video10");
    }

    #[test]
    fn the_last_segment_of_each_period_may_be_shorter() {
        let set = [
            ("duration", "15 s"),
            ("periods", "2"),
            ("segment", "3 s"),
            ("bitrates", "[\"8 kbit/s\"]"),
            ("audio", "[\"16 kbit/s\", \"32 kbit/s\"]"),
            ("audio_segment", "5 s"),
            ("initialization", "700 B"),
        ];
        let presentation = ladder(&set);
        for period in &presentation.periods {
            let [video, audio] = &period.tracks[..] else { panic!("two tracks") };
            let millis =
                |track: &Track| track.durations.iter().map(|one| one.as_millis()).collect::<Vec<_>>();
            assert_eq!((millis(video), millis(audio)), (vec![3_000, 3_000, 1_500], vec![5_000, 2_500]));
            assert_eq!(video.representations[0].sizes, [3_000, 3_000, 1_500]);
            assert_eq!(audio.representations[1].sizes, [20_000, 10_000]);
            assert_eq!(audio.representations[0].initialization, 700);
        }
    }

    #[test]
    fn heights_give_resolutions() {
        let set =
            [("bitrates", "[\"1 Mbit/s\", \"2 Mbit/s\", \"3 Mbit/s\"]"), ("heights", "[480, 720, 1080]")];
        let presentation = ladder(&set);
        let resolutions: Vec<_> =
            presentation.periods[0].tracks[0].representations.iter().map(|one| one.resolution).collect();
        assert_eq!(resolutions, [Some((854, 480)), Some((1280, 720)), Some((1920, 1080))]);
    }

    /// The mean of 100,000 sizes is bitrate x duration; their deviation is that of the option.
    #[test]
    fn drawn_sizes_have_their_mean_and_variation() {
        let set = [
            ("duration", "100000 s"),
            ("segment", "1 s"),
            ("bitrates", "[\"800 kbit/s\", \"8 Mbit/s\"]"),
            ("variation", "0.5"),
        ];
        let presentation = ladder(&set);
        let [low, high] = &presentation.periods[0].tracks[0].representations[..] else { panic!("two") };
        let mean = |of: &dyn Fn(f64) -> f64| low.sizes.iter().map(|size| of(*size as f64)).sum::<f64>() / 1e5;
        // A standard error of the mean is 0.16 %.
        assert!((mean(&|size| size) / 1e5 - 1.0).abs() < 0.006, "{}", mean(&|size| size));
        let deviation = mean(&|size| (size / 1e5 - 1.0).powi(2)).sqrt();
        assert!((deviation - 0.5).abs() < 0.01, "{deviation}");
        // The complexity of a segment is that of all representations.
        assert!(low.sizes.iter().zip(&high.sizes).all(|(low, high)| (low * 10).abs_diff(*high) <= 5));
    }

    #[test]
    fn equal_streams_give_equal_sizes() {
        let set = [("variation", "0.3"), ("duration", "30 s")];
        assert_eq!(built(&ROW, &set, 7), built(&ROW, &set, 7));
        assert_ne!(built(&ROW, &set, 7), built(&ROW, &set, 8));
        // Sound does not change the video.
        let with_audio = [("variation", "0.3"), ("duration", "30 s"), ("audio", "[\"64 kbit/s\"]")];
        let (one, other) = (built(&ROW, &set, 7).unwrap(), built(&ROW, &with_audio, 7).unwrap());
        assert_eq!(one.periods[0].tracks[0], other.periods[0].tracks[0]);
        let watch = random::Watch::default();
        let arguments = super::super::testing::arguments(&ROW, &[]);
        build(&arguments, &mut watch.stream()).unwrap();
        assert!(!watch.draws(), "constant sizes are not drawn");
    }

    #[test]
    fn options_that_do_not_fit_are_refused() {
        for (set, option, told) in [
            (&[("bitrates", "[]")][..], "bitrates", "0 bitrates; expected 1 to 100"),
            (&[("bitrates", "[\"0 bit/s\"]")], "bitrates", "expected a bitrate of 1 bit/s to 1 Tbit/s"),
            (
                &[("bitrates", "[\"2 Mbit/s\", \"1 Mbit/s\"]")],
                "bitrates",
                "representation 2: expected a bitrate above",
            ),
            (&[("segment", "0 s")], "segment", "expected a duration above zero"),
            (&[("segment", "1 ns")], "segment", "600000000000 segments; expected at most 100000"),
            (
                &[("segment", "5 ms"), ("duration", "500 s"), ("audio", "[\"1 kbit/s\"]")],
                "segment",
                "more than 1000000",
            ),
            (&[("initialization", "2 TB")], "initialization", "initialization segment"),
            (&[("duration", "0 s")], "duration", "0 s is too short for 1 periods"),
            (&[("duration", "3 ns"), ("periods", "4")], "duration", "3 ns is too short for 4 periods"),
            (&[("duration", "721 h")], "duration", "longer than 2592000 s"),
            (&[("heights", "[720]")], "heights", "1 heights for 10 bitrates"),
            (&[("audio", "[]")], "audio", "0 bitrates; expected 1 to 100"),
            (&[("audio_segment", "2 s")], "audio_segment", "there is no sound"),
            (&[("audio", "[\"1 kbit/s\"]"), ("audio_segment", "0 s")], "audio_segment", "above zero"),
            (
                &[("bitrates", "[\"1 Tbit/s\"]"), ("segment", "10 s")],
                "segment",
                "a segment of more than 1000000000000 bytes",
            ),
        ] {
            let (found, problem) = built(&ROW, set, 1).unwrap_err();
            assert!(found == option && problem.contains(told), "{set:?}: {found}: {problem}");
        }
    }
}
