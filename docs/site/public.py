"""What is public of the package, by subject, and examples of what cannot have them in its docstring."""

MODULES = {
    "Scenarios and runs": [
        "quiclab.Scenario",
        "quiclab.Run",
        "quiclab.Table",
        "quiclab.load",
        "quiclab.Progress",
        "quiclab.topics",
    ],
    "Sweeps": ["quiclab.sweep", "quiclab.Sweep", "quiclab.load_sweep", "quiclab.SweepProgress"],
    "Reports and differences": ["quiclab.report.write", "quiclab.diff", "quiclab.Diff", "quiclab.Change"],
    "Statistics": ["quiclab.statistics.means", "quiclab.statistics.quantiles"],
    "Figures": [
        "quiclab.plots.draw",
        "quiclab.plots.save",
        "quiclab.plots.chart",
        "quiclab.plots.Choice",
        "quiclab.plots.Figure",
    ],
    "Where the time went": ["quiclab.why.why", "quiclab.why.Answer", "quiclab.why.Cause", "quiclab.why.Remedy"],
    "The page of a run": ["quiclab.view.write", "quiclab.view.Shown"],
    "Traces": [
        "quiclab.traces.generate",
        "quiclab.traces.read",
        "quiclab.traces.write",
        "quiclab.traces.Capacity",
        "quiclab.traces.series_of",
        "quiclab.traces.Series",
    ],
    "Your own controller": [
        "quiclab.Controller",
        "quiclab.Ack",
        "quiclab.CongestionSignal",
        "quiclab.ResumeAdjustment",
    ],
    "Your own stream scheduler": ["quiclab.Scheduler", "quiclab.SchedulerView", "quiclab.Priority"],
    "Your own rate adaptation": ["quiclab.Abr", "quiclab.AbrView", "quiclab.Download", "quiclab.PartialDownload"],
    "Your own parts of a network": [
        "quiclab.Queue",
        "quiclab.Middlebox",
        "quiclab.Loss",
        "quiclab.Jitter",
        "quiclab.Rate",
        "quiclab.CellScheduler",
        "quiclab.Packet",
    ],
    "Your own application": [
        "quiclab.Application",
        "quiclab.End",
        "quiclab.Connection",
        "quiclab.Stream",
        "quiclab.Measurement",
    ],
    "The laws of parts": [
        "quiclab.testing.check_queue",
        "quiclab.testing.check_middlebox",
        "quiclab.testing.check_loss",
        "quiclab.testing.check_jitter",
        "quiclab.testing.check_rate",
        "quiclab.testing.check_cell_scheduler",
        "quiclab.testing.check_application",
    ],
    "Environments of Gymnasium": [
        "quiclab.gym.CongestionControl",
        "quiclab.gym.RateAdaptation",
        "quiclab.gym.copa_utility",
    ],
    "Quality of video": ["quiclab.p1203.inputs", "quiclab.p1203.score", "quiclab.p1203.Score"],
    "Errors": [
        "quiclab.Error",
        "quiclab.ScenarioError",
        "quiclab.RunError",
        "quiclab.OutputError",
        "quiclab.ScriptError",
    ],
}
"""What is public, by subject."""

EXAMPLES = {
    "quiclab.Error": """\
>>> try:
...     quiclab.Scenario.from_file("examples/cellular.toml", {"seed": -1})
... except quiclab.Error as error:
...     print(error)
--set seed=-1: seed: negative, found -1; expected a whole number from 0 to 9223372036854775807
""",
    "quiclab.ScenarioError": """\
>>> quiclab.Scenario.from_file("examples/cellular.toml", {"transport.controler": "cubic"})
Traceback (most recent call last):
    ...
quiclab.ScenarioError: ...
""",
    "quiclab.OutputError": """\
>>> quiclab.load("nothing")
Traceback (most recent call last):
    ...
quiclab.OutputError: nothing: there is no such run folder
""",
    "quiclab.statistics.means": """\
>>> runs = quiclab.sweep("examples/sweep.toml").runs.arrow
>>> (row,) = quiclab.statistics.means(runs, ["goodput_mbps"], []).to_pylist()
>>> f"{row['n']} runs, mean {row['mean']:.2f} Mbit/s"
'150 runs, mean 10.67 Mbit/s'
""",
    "quiclab.statistics.quantiles": """\
>>> runs = quiclab.sweep("examples/sweep.toml").runs.arrow
>>> quiclab.statistics.quantiles(runs, ["goodput_mbps"], [], [0.5]).column("q50").to_pylist()
[14.116791]
""",
    "quiclab.traces.generate": """\
>>> text = quiclab.traces.generate("leo", seed=3)
>>> link = {"link.cell.forward.series": {"type": "leo", "duration": "120 s", "seed": 3}}
""",
    "quiclab.traces.read": """\
>>> capacity = quiclab.traces.read(Path("examples/traces/lte-like.down"))
>>> f"{capacity.mean_mbps:.3f} Mbit/s over {capacity.duration_s} s"
'6.005 Mbit/s over 60.0 s'
""",
    "quiclab.traces.write": """\
>>> capacity = quiclab.traces.Capacity(times_ns=[0, 10**9], rates_bps=[10**7, 10**6], end_ns=2 * 10**9)
>>> print(quiclab.traces.write(capacity, "csv"))
time_ms,rate_mbps
0,10
1000,1
""",
    "quiclab.traces.Capacity": """\
>>> capacity = quiclab.traces.Capacity(times_ns=[0, 10**9], rates_bps=[10**7, 10**6], end_ns=2 * 10**9)
>>> capacity.mean_mbps
5.5
""",
    "quiclab.traces.series_of": """\
>>> series = quiclab.traces.series_of(Path("examples/traces/leo.csv"))
>>> len(series.gaps())
1
""",
    "quiclab.traces.Series": """\
>>> series = quiclab.traces.series_of(Path("examples/traces/leo.csv"))
>>> round(series.mean(series.delays_ns) / 1e6, 1)
16.7
""",
}
"""Examples of what is compiled, and of modules on whose docstrings the digests of reproduced figures depend."""
