internal import Dispatch
internal import RecordService

/// Lets a running service forget what it need not remember any more, and look whether its assets
/// are where they should be and its bucket works: at once, then once a day.
final class DailyForgetting {
    private let timer = DispatchSource.makeTimerSource()
    private static let daySeconds = 86_400

    /// `isOfMany`: other services may work on the same database.
    init(_ service: RecordService, isOfMany: Bool, _ logbook: ServiceLogbook) {
        timer.schedule(deadline: .now(), repeating: .seconds(Self.daySeconds))
        timer.setEventHandler {
            // Before a user hears of it.
            service.probeAssets()
            if isOfMany, let problem = service.settleAssetPlace() {
                logbook.warn(CommandFailure.describe(problem).message)
            }
            for failure in service.forgetWhatIsOld() {
                logbook.warn(
                    "what is old stays for now: \(CommandFailure.describe(failure).message)")
            }
        }
        timer.resume()
    }

    func stop() { timer.cancel() }
}
