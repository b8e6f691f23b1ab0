internal import Foundation
internal import MirrorEngine

/// How a verb's rounds merge and seal, beside where they go.
struct RoundSettings: Sendable {
    let zone: ZoneChoice
    let policy: MergePolicy
    let keys: SealingKeys?

    init(_ arguments: Arguments, zone: ZoneChoice) throws {
        self.zone = zone
        policy = try MirrorOptions.mergePolicy(arguments)
        keys = try KeySource.keys(arguments)
    }
}

extension StoreAccess {
    /// Opens the store with its mirror.
    func openMirrored(_ round: RoundSettings) throws -> MirroredStore {
        try openMirrored(policy: round.policy, zone: round.zone, keys: round.keys)
    }
}

extension Arguments {
    /// What was given of `options`, as `diptych.conf` would have it: files by their whole paths.
    func given(_ options: [Option]) -> [(name: String, value: String)] {
        options.compactMap { option in
            let isFile = option.value == "FILE" || option.name == Option.model.name
            let value = isFile ? file(option)?.path : value(option)
            return value.map { (option.name, $0) }
        }
    }
}
