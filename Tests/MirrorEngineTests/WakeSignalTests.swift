import MirrorEngine
import Platform
import Testing

@Suite struct WakeSignalTests {
    /// Never ends but by cancellation.
    private struct Endless: Sleeper {
        func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }
    }

    /// Ends at once.
    private struct Instant: Sleeper {
        func sleep(seconds: Double) async throws {}
    }

    @Test func aSignalBeforeTheWaitEndsItAndManyCountAsOne() async {
        let signal = WakeSignal()
        signal.send()
        signal.send()
        await signal.wait(atMostSeconds: 1, Endless())
        // A second wait ends by its time only.
        await signal.wait(atMostSeconds: 0, Instant())
    }

    @Test func aSignalDuringTheWaitEndsIt() async {
        let signal = WakeSignal()
        async let wait: Void = signal.wait(atMostSeconds: 1, Endless())
        signal.send()
        await wait
    }

    @Test func aCancelledTaskWaitsNoMore() async {
        let signal = WakeSignal()
        let task = Task { await signal.wait(atMostSeconds: 1, Endless()) }
        task.cancel()
        await task.value
    }
}
