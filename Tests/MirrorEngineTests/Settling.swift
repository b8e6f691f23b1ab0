import MirrorEngine
import Testing

/// Rounds in turn until nothing moves, in the order of `devices`; with `inSync`, also until each
/// says that it is in sync.
func settle(_ devices: [Device], inSync: Bool = false) throws {
    for _ in 0..<8 {
        let results = try devices.map { try $0.sync() }
        for result in results { #expect(result.error == nil) }
        let rests = results.allSatisfy {
            $0.exported + $0.imported.received == 0 && ($0.isInSync || !inSync)
        }
        if rests { return }
    }
    Issue.record("The devices do not come to rest.")
}
