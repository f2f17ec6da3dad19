//! Which adaptation sets are played.

use super::*;

#[test]
fn another_adaptation_set_can_be_chosen() {
    let tracks = |set: &[(&str, &str)]| {
        let presentation = read(&[&[("file", BROADCAST)], set].concat());
        let ids = |track: &Track| track.representations.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        presentation.periods[0].tracks.iter().map(ids).collect::<Vec<_>>()
    };
    assert_eq!(tracks(&[("audio_set", "2")]), [["v1", "v2"], ["a-en-1", "a-en-2"]]);
    assert_eq!(tracks(&[("audio_set", "0")]), [["v1", "v2"]]);
    let (_, problem) = built(&ROW, &[("file", BROADCAST), ("video_set", "2")], 1).unwrap_err();
    assert!(
        problem.contains("line 6: Period: 1 adaptation sets of video; expected video_set of 1 to 1"),
        "{problem}"
    );
}

/// The names of the representations that are played, by track.
fn played(text: &str) -> Vec<Vec<String>> {
    let names = |track: &Track| track.representations.iter().map(|one| one.id.clone()).collect();
    read(&[("file", text)]).periods[0].tracks.iter().map(names).collect()
}

fn set(attributes: &str, inside: &str) -> String {
    format!("<AdaptationSet {attributes}>\n{inside}\n</AdaptationSet>")
}

fn one(id: &str, bandwidth: u64, attributes: &str) -> String {
    format!("<Representation id=\"{id}\" bandwidth=\"{bandwidth}\" {attributes}/>")
}

#[test]
fn the_main_set_comes_before_those_that_replace_it() {
    let role = |value: &str| format!("<Role schemeIdUri=\"urn:mpeg:dash:role:2011\" value=\"{value}\"/>");
    for kind in ["video", "audio"] {
        let attributes = format!("contentType=\"{kind}\"");
        for other in ["alternate", "supplementary", "sign", "commentary", "description"] {
            for main in [role("main"), String::new(), role("main") + &role("alternate")] {
                let second = set(&attributes, &(role(other) + &one("other", 9_000, "")));
                let first = set(&attributes, &(main + &one("main", 8_000, "")));
                for text in [sets(&[second.clone(), first.clone()].concat()), sets(&[first, second].concat())]
                {
                    assert_eq!(played(&text), [["main"]], "{other}");
                }
            }
        }
        // Other schemes say something else.
        let foreign = role("alternate").replace("dash:role", "x");
        let text = sets(
            &[set(&attributes, &(foreign + &one("a", 8_000, ""))), set(&attributes, &one("b", 9_000, ""))]
                .concat(),
        );
        assert_eq!(played(&text), [["a"]]);
    }
}

#[test]
fn several_sets_of_video_are_told() {
    let attributes = "contentType=\"video\"";
    let text =
        sets(&[set(attributes, &one("low", 8_000, "")), set(attributes, &one("high", 9_000, ""))].concat());
    assert_eq!(played(&text), [["low"]]);
    let told = "the-file, line 4: AdaptationSet: one of 2 adaptation sets of video, whose representations alone are played; video_set chooses";
    assert_eq!(notes(&text), [told]);
    // Languages are usual.
    assert!(notes(&text.replace("contentType=\"video\"", "contentType=\"audio\"")).is_empty());
}

#[test]
fn a_set_of_both_kinds_is_two_tracks() {
    let types = [one("a", 8_000, "mimeType=\"audio/mp4\""), one("v", 90_000, "mimeType=\"video/mp4\"")];
    let codecs = [one("a", 8_000, "codecs=\"mp4a.40.2\""), one("v", 90_000, "codecs=\"avc1.4d401e\"")];
    for [audio, video] in [types, codecs] {
        for inside in [[audio.as_str(), &video].concat(), [video.as_str(), &audio].concat()] {
            assert_eq!(played(&sets(&set("", &inside))), [["v"], ["a"]]);
        }
    }
    let wrong = sets(&set(
        "contentType=\"video\"",
        &(one("v", 90_000, "") + "\n" + &one("a", 8_000, "mimeType=\"audio/mp4\"")),
    ));
    assert_eq!(played(&wrong), [["v"]]);
    assert_eq!(
        notes(&wrong),
        ["the-file, line 6: Representation: audio in an adaptation set of video; left out"]
    );
}

#[test]
fn sets_between_which_a_player_switches_are_one() {
    let property = |name: &str, ids: &str| {
        format!("<{name} schemeIdUri=\"urn:mpeg:dash:adaptation-set-switching:2016\" value=\"{ids}\"/>")
    };
    let video = |id: &str, names: &str, one: &str| {
        set(&format!("contentType=\"video\" id=\"{id}\""), &(names.to_owned() + one))
    };
    let (low, high, other) = (one("low", 8_000, ""), one("high", 9_000, ""), one("other", 7_000, ""));
    for name in ["SupplementalProperty", "EssentialProperty"] {
        let two =
            [video("1", &property(name, "2"), &high), video("2", &property(name, "3, 1"), &low)].concat();
        assert_eq!(played(&sets(&two)), [["low", "high"]]);
        assert_eq!(notes(&sets(&two)), [""; 0]);
        // All of this may stand in one line, and a list of sizes names representations of both.
        let text = sets(&two).replace('\n', " ");
        assert_eq!(played(&text), [["low", "high"]]);
        let lines = |id: &str| (1..4).map(|at| format!("{id},{at},{at}\n")).collect::<String>();
        let sizes = ["representation,segment,bytes\n", &lines("low"), &lines("high")].concat();
        assert_eq!(
            read(&[("file", &text), ("sizes", &sizes)]).periods[0].tracks[0].representations[1].sizes,
            [1, 2, 3]
        );
        // Only one of both names the other.
        let one_way = [video("1", &property(name, "2"), &high), video("2", "", &low)].concat();
        assert_eq!(played(&sets(&one_way)), [["high"]]);
        let three = two + &video("3", "", &other);
        assert_eq!(played(&sets(&three)), [["low", "high"]]);
        assert!(notes(&sets(&three))[0].contains(": 2 of 3 adaptation sets of video, whose"));
    }
}

#[test]
fn sets_that_not_every_player_plays_come_last() {
    let property =
        |scheme: &str| format!("<EssentialProperty schemeIdUri=\"{scheme}\" value=\"0,0,0,1,1,2,2\"/>");
    let plain = set("contentType=\"video\"", &one("plain", 9_000, ""));
    let fast = "codingDependency=\"false\" maxPlayoutRate=\"8\"";
    for other in [
        set("contentType=\"video\"", &(property("urn:mpeg:dash:srd:2014") + &one("a", 8_000, ""))),
        set(
            "contentType=\"video\"",
            &(property("urn:mpeg:mpegB:cicp:TransferCharacteristics") + &one("a", 8_000, "")),
        ),
        set(&format!("contentType=\"video\" {fast}"), &one("a", 8_000, "")),
        set("contentType=\"video\"", &one("a", 8_000, fast)),
    ] {
        assert_eq!(played(&sets(&(other.clone() + &plain))), [["plain"]]);
        assert_eq!(played(&sets(&other)), [["a"]]);
    }
    let ordinary =
        set("contentType=\"video\" maxPlayoutRate=\"1\"", &one("a", 8_000, "codingDependency=\"false\""));
    assert_eq!(played(&sets(&(ordinary + &plain))), [["a"]]);
}

#[test]
fn the_preferred_set_comes_first() {
    let video = |preference: &str, one: &str| set(&format!("contentType=\"video\" {preference}"), one);
    let (a, b) = (one("a", 8_000, ""), one("b", 9_000, ""));
    for (first, second, expected) in [
        ("", "selectionPriority=\"2\"", "b"),
        ("selectionPriority=\"0\"", "", "b"),
        ("selectionPriority=\"1\"", "", "a"),
        ("selectionPriority=\"x\"", "", "a"),
    ] {
        assert_eq!(played(&sets(&[video(first, &a), video(second, &b)].concat())), [[expected]]);
    }
}
