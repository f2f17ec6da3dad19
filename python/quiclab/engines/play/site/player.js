// Plays the presentation of settings.json with dash.js, and tells what happens, in batches: POST /told.

/** dash.js, whose types are not here.
 *  @type {any} */
const dashjs = Reflect.get(window, "dashjs");
const EVERY_MS = 250;
/** Media may end some frames before the manifest says so, and a browser then waits for more. */
const END_S = 0.1;
const video = /** @type {HTMLVideoElement} */ (document.querySelector("video"));
/** @type {object[]} */
const told = [];
/** @type {any} */
let player = null;

/** The media ahead of the position, in seconds. */
function buffered() {
  const at = video.currentTime;
  for (let range = 0; range < video.buffered.length; range += 1) {
    if (video.buffered.start(range) <= at + 0.1 && at < video.buffered.end(range)) {
      return video.buffered.end(range) - at;
    }
  }
  return 0;
}

/** Notes an event with the state of the player. Times are seconds of the system's clock.
 *  @param {string} what @param {object} more */
function tell(what, more = {}) {
  const live = player?.isReady() && player.isDynamic();
  told.push({
    what,
    at_s: (performance.timeOrigin + performance.now()) / 1000,
    position_s: video.currentTime,
    buffer_s: buffered(),
    rate: video.paused ? 0 : video.playbackRate,
    latency_s: live ? player.getCurrentLiveLatency() : null,
    ...more,
  });
}

async function send() {
  const batch = told.splice(0);
  if (batch.length > 0) {
    await fetch("told", { method: "POST", body: batch.map((one) => JSON.stringify(one) + "\n").join("") });
  }
}

/** What a download is: its track, segment and representation.
 *  @param {any} request one of dash.js */
function about(request) {
  const representation = request.representation ?? {};
  return {
    kind: request.mediaType,
    is_media: request.type === "MediaSegment",
    segment: request.index,
    starts_s: request.startTime,
    duration_s: request.duration,
    representation: representation.absoluteIndex,
    bitrate_bps: 1000 * (request.bandwidth ? request.bandwidth / 1000 : representation.bitrateInKbit ?? 0),
    url: request.url,
  };
}

/** The end of the presentation, also of a live one. */
function endsAt() {
  return player.isReady() ? player.duration() : Infinity;
}

/** @param {string | Date | null | undefined} date */
function seconds(date) {
  return date ? new Date(date).getTime() / 1000 : null;
}

function listen() {
  const events = dashjs.MediaPlayer.events;
  /** @param {string} kind */
  const track = (kind) => (kind === "video" || kind === "audio" ? player.getDashMetrics().getCurrentBufferLevel(kind) : 0);
  /** @param {string} kind */
  const estimate = (kind) => {
    const kbit = player.getAverageThroughput(kind);
    return Number.isFinite(kbit) && kbit > 0 ? kbit / 1000 : null;
  };
  player.on(events.FRAGMENT_LOADING_STARTED, (/** @type {any} */ { request, mediaType }) => {
    tell("asked", { ...about(request), track_s: track(mediaType), estimate_mbps: estimate(mediaType) });
  });
  player.on(events.FRAGMENT_LOADING_COMPLETED, (/** @type {any} */ { request, mediaType, error }) => {
    tell(error ? "failed" : "complete", {
      ...about(request),
      track_s: track(mediaType),
      first_byte_s: seconds(request.firstByteDate),
      ended_s: seconds(request.endDate),
      bytes: request.bytesTotal || request.bytesLoaded || 0,
    });
  });
  player.on(events.FRAGMENT_LOADING_ABANDONED, (/** @type {any} */ { request, mediaType }) => {
    tell("abandoned", { ...about(request), track_s: track(mediaType), bytes: request.bytesLoaded || 0 });
  });
  player.on(events.ERROR, (/** @type {any} */ { error }) => tell("error", { message: String(error?.message) }));
  let hasEnded = false;
  /** @param {string} what */
  const follow = (what) => {
    const isOver = what === "ended" || endsAt() - video.currentTime < END_S;
    if (!hasEnded) {
      tell(isOver ? "ended" : what);
    }
    hasEnded = hasEnded || isOver;
  };
  for (const what of ["playing", "waiting", "ended", "ratechange", "seeked"]) {
    video.addEventListener(what, () => follow(what));
  }
  video.addEventListener("timeupdate", () => follow("position"));
  video.addEventListener("error", () => tell("error", { message: video.error?.message }));
}

async function main() {
  const settings = await (await fetch("settings.json")).json();
  setInterval(send, EVERY_MS);
  // The player begins when its connection can be used, as a simulated one does.
  for (;;) {
    try {
      await fetch(settings.origin, { mode: "no-cors", cache: "no-store" });
      break;
    } catch {
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  player = dashjs.MediaPlayer().create();
  player.updateSettings(settings.dashjs);
  player.initialize(video, null, true);
  listen();
  tell("begins", { version: player.getVersion() });
  player.attachSource(new URL("manifest.mpd", location.href).href);
}

main().catch((error) => {
  tell("error", { message: String(error) });
  send();
});
