package import Foundation
package import Platform

/// The events of a round, begun before there is anything of them in the ledger: what is logged of
/// a kind meanwhile is one event.
package final class RoundEvents: Sendable {
    /// Of the round that the current task runs; nil where nobody listens.
    @TaskLocal package static var current: RoundEvents?

    /// One that runs.
    package struct Begun: Sendable {
        package let identifier: UUID
        package let kind: MirrorEvent.Kind
        package let started: Date

        package init(identifier: UUID, kind: MirrorEvent.Kind, started: Date) {
            self.identifier = identifier
            self.kind = kind
            self.started = started
        }
    }

    private let begun = Lock<[Begun]>([])

    package init() {}

    /// Begins an event; nil where it was begun before.
    package func begin(_ kind: MirrorEvent.Kind, _ platform: Environment) -> Begun? {
        begun.withLock { begun in
            guard !begun.contains(where: { $0.kind == kind }) else { return nil }
            let new = Begun(
                identifier: platform.randomness.uuid(), kind: kind, started: platform.clock.now())
            begun.append(new)
            return new
        }
    }

    package var all: [Begun] { begun.withLock { $0 } }

    func identifier(of kind: MirrorEvent.Kind) -> UUID? {
        all.first { $0.kind == kind }?.identifier
    }
}
