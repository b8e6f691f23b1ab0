internal import Platform

/// A user's token that the service replaces: each answer of CloudKit Web Services may carry the one
/// to use next. (SERVICE §10)
///
/// Thread-safe; channels to one service share one. It never appears in a description.
public final class RotatingToken: Sendable {
    private let token: Lock<String?>
    private let keep: @Sendable (String) -> Void

    /// `keep` is given each new token, one after another, to be kept as a secret across restarts.
    public init(_ token: String?, keep: @escaping @Sendable (String) -> Void = { _ in }) {
        self.token = Lock(token)
        self.keep = keep
    }

    /// The token that the next request shows.
    public var value: String? { token.withLock { $0 } }

    /// Takes what an answer carries; what cannot be a token is passed over.
    func take(_ next: String) {
        let isFit =
            !next.isEmpty && next.utf8.count <= Self.bytesMax
            && next.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isFit else { return }
        token.withLock { token in
            guard token != next else { return }
            token = next
            keep(next)
        }
    }

    private static let bytesMax = 4_096
}

extension RotatingToken: CustomStringConvertible, CustomReflectable {
    public var description: String { "RotatingToken(…)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
