"""An application in Python: questions and answers with a pause between them.

quiclab run examples/dumbbell.toml --set flow.first.application=examples/own_application.py:Ask
"""

import quiclab


class Asker(quiclab.End):
    """Asks the next question some time after the last answer; all of them go on one stream."""

    application: "Ask"

    def on_connected(self, now_s: float) -> None:
        self.left = self.application.count
        stream = self.connection.open()
        assert stream is not None, "the first stream is within every limit"
        self.stream = stream
        self.on_wake(now_s)

    def on_wake(self, now_s: float) -> None:
        self.question = self.connection.measure(stream=self.stream)
        self.missing = self.application.answer
        self.stream.write(self.application.question)

    def on_readable(self, stream: quiclab.Stream, now_s: float) -> None:
        self.missing -= stream.skip()
        if self.missing > 0:
            return
        self.question.finish(self.application.answer)
        self.left -= 1
        if self.left:
            self.wake_s = now_s + self.random.expovariate(1 / self.application.think_s)
        else:
            self.connection.close()


class Answerer(quiclab.End):
    """Answers each question when it has all of it."""

    application: "Ask"

    def start(self) -> None:
        self.got = 0

    def on_readable(self, stream: quiclab.Stream, now_s: float) -> None:
        self.got += stream.skip()
        while self.got >= self.application.question:
            self.got -= self.application.question
            stream.write(self.application.answer)


class Ask(quiclab.Application):
    """Questions one after the other, with exponential pauses for thought."""

    options = {"count": 20, "question": 300, "answer": 30_000, "think_s": 0.2}
    count: int
    question: int
    answer: int
    think_s: float
    client, server = Asker, Answerer
