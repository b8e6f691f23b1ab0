import CFuzzer
import Foundation
import FuzzTargets

/// `diptych-fuzz`: libFuzzer over one reader. `DIPTYCH_FUZZ_TARGET` names the reader; all arguments
/// are libFuzzer's own.
@main enum Main {
    static func main() {
        guard let name = ProcessInfo.processInfo.environment["DIPTYCH_FUZZ_TARGET"],
            let target = FuzzTarget(rawValue: name)
        else {
            let known = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
            print("usage: DIPTYCH_FUZZ_TARGET=one of \(known); then libFuzzer's arguments")
            exit(2)
        }
        chosen = target
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
                Main.feed(bytes.map { Data(bytes: $0, count: count) } ?? Data())
                return 0
            })
    }

    /// Set once, before libFuzzer starts; it uses one thread.
    nonisolated(unsafe) private static var chosen = FuzzTarget.model

    private static func feed(_ data: Data) {
        guard case .broken(let why) = chosen.feed(data) else { return }
        try? FileHandle.standardError.write(contentsOf: Data("finding: \(why)\n".utf8))
        abort()
    }
}
