internal import Platform

/// A user's token that the service replaces: an answer may carry the one to use next. (SERVICE §2,
/// §10)
///
/// Thread-safe; channels to one service share one. It never appears in a description.
public final class RotatingToken: Sendable {
    private let token: Lock<String?>
    private let keep: (@Sendable (String) throws -> Void)?
    private let reread: @Sendable () -> String?

    /// `keep` is given each new token, one after another, to be kept as a secret across restarts.
    /// Where it throws, or there is none, the former token is shown on as long as the service takes
    /// it. `reread` reads what another process may have kept since.
    public init(
        _ token: String?, keep: (@Sendable (String) throws -> Void)? = nil,
        reread: @escaping @Sendable () -> String? = { nil }
    ) {
        self.token = Lock(token)
        self.keep = keep
        self.reread = reread
    }

    /// The token that the next request shows.
    public var value: String? { token.withLock { $0 } }

    /// Takes what an answer carries; what cannot be a token is passed over. `mustGoOn` says that
    /// the service takes the former one no more, whether or not this one can be kept.
    func take(_ next: String, mustGoOn: Bool) {
        guard Self.isFit(next) else { return }
        token.withLock { token in
            guard token != next else { return }
            guard let keep else {
                if mustGoOn { token = next }
                return
            }
            do {
                try keep(next)
                token = next
            } catch {
                // It is given again with the next answer.
                if mustGoOn { token = next }
            }
        }
    }

    /// Whether there is another token than one that was refused: another channel took it, or
    /// another process kept it.
    func isOther(than refused: String?) -> Bool {
        token.withLock { token in
            guard token == refused else { return true }
            guard let kept = reread(), kept != refused, Self.isFit(kept) else { return false }
            token = kept
            return true
        }
    }

    private static let bytesMax = 4_096

    private static func isFit(_ text: String) -> Bool {
        (1...bytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension RotatingToken: CustomStringConvertible, CustomReflectable {
    public var description: String { "RotatingToken(…)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
