internal import Dispatch
internal import RecordService

/// Lets a running service forget what it need not remember any more, and look whether its bucket of
/// assets works: at once, then once a day.
final class DailyForgetting {
    private let timer = DispatchSource.makeTimerSource()
    private static let daySeconds = 86_400

    init(_ service: RecordService, _ logbook: ServiceLogbook) {
        timer.schedule(deadline: .now(), repeating: .seconds(Self.daySeconds))
        timer.setEventHandler {
            // Before a user hears of it.
            service.probeAssets()
            for failure in service.forgetWhatIsOld() {
                logbook.warn(
                    "what is old stays for now: \(CommandFailure.describe(failure).message)")
            }
        }
        timer.resume()
    }

    func stop() { timer.cancel() }
}
