internal import Foundation
internal import Platform
public import RecordWire

/// Containers, users and tokens of a service: what its administrator decides.
///
/// Calls come from any thread. All throw `RecordError`: what `RecordService.handle` throws for a
/// store that fails, and what each function says.
public final class ServiceAccounts: Sendable {
    let backend: any Backend
    let platform: Environment
    /// Where acts are noted; nil: nowhere.
    let audit: AuditLog?
    private let secrets: any SecretSource
    /// Containers are never removed, so those seen once exist.
    private let seen = Lock<Set<ExactName>>([])
    let uses = TokenUses()
    /// Tokens that were shown lately. Names that nobody has are not kept: a stranger makes up as
    /// many as he likes.
    let memory = RowMemory<TokenRow>()
    let usedSignatures = UsedSignatures()
    let bell: AccessBell

    init(
        backend: any Backend, platform: Environment, secrets: any SecretSource,
        audit: AuditLog? = nil, bell: AccessBell = AccessBell()
    ) {
        self.bell = bell
        self.audit = audit
        self.backend = backend
        self.platform = platform
        self.secrets = secrets
    }

    /// The same, by somebody whom the audit log calls `name`.
    package func acting(as name: String) -> ServiceAccounts {
        ServiceAccounts(
            backend: backend, platform: platform, secrets: secrets, audit: audit?.acting(as: name),
            bell: bell)
    }

    /// Has those looked at again who wait, at all services.
    func tellAccessChanged() {
        backend.announce(.access)
        bell.ring()
    }

    /// The last acts that were noted, oldest first; none where no log is kept. Throws
    /// INTERNAL_ERROR where it cannot be read. Cost: reads the log's last megabyte.
    package func recentActs(limit: Int) throws(RecordError) -> [AuditEntry] {
        try audit?.recent(limit: limit) ?? []
    }

    // MARK: Containers

    /// Makes the container `name`, such as `iCloud.org.example.notes`; does nothing when it is
    /// there. Throws BAD_REQUEST unless the name is made of letters, digits, dots, hyphens and
    /// underscores, and of more than dots: those clients take out of the paths that they ask.
    public func createContainer(_ name: String) throws(RecordError) {
        guard Self.isContainerName(name), !name.utf8.allSatisfy({ $0 == UInt8(ascii: ".") }) else {
            throw RecordError(
                .badRequest,
                "A container name has 1 to 255 letters, digits, dots, hyphens and underscores, "
                    + "and not dots alone.")
        }
        let now = platform.milliseconds
        let isNew = try backend.write { transaction in
            guard try !transaction.hasContainer(name) else { return false }
            try transaction.addContainer(name, at: now)
            return true
        }
        if isNew { try audit?.note(.containerMade, name) }
    }

    /// Whether a container may be called so, or may have been before names of dots were refused.
    static func isContainerName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain && (1...255).contains(name.utf8.count)
    }

    /// The names of all containers, sorted.
    public func containers() throws(RecordError) -> [String] {
        try backend.read { try $0.containers() }
    }

    /// Throws NOT_FOUND unless the container exists.
    func requireContainer(_ name: String) throws(RecordError) {
        if seen.withLock({ $0.contains(ExactName(name)) }) { return }
        guard try backend.read({ try $0.hasContainer(name) }) else { throw Self.unknown(name) }
        seen.withLock { _ = $0.insert(ExactName(name)) }
    }

    // MARK: Users

    /// Makes a user with a random record name. The label is the program's own; one that somebody
    /// typed is looked at by `createUser(label:profile:)`.
    public func createUser(label: String) throws(RecordError) -> ServiceUser {
        let user = newUser(label: label)
        let now = platform.milliseconds
        try backend.write { try $0.add(user, at: now) }
        try audit?.note(.userAdded, user.userRecordName, ["label": label])
        return user
    }

    /// A user nobody knows yet, with a name as `ServiceUser.isRecordName` tells it.
    func newUser(label: String) -> ServiceUser {
        let name = platform.randomness.uuid().uuidString.replacing("-", with: "").lowercased()
        return ServiceUser(userRecordName: "_\(name)", label: label)
    }

    /// All users by record name.
    public func users() throws(RecordError) -> [ServiceUser] {
        try backend.read { try $0.users() }
    }

    // MARK: Tokens

    /// Makes a token for apps of one container. Throws NOT_FOUND when there is no such container.
    public func issueAPIToken(
        container: String, label: String
    ) throws(RecordError) -> IssuedToken {
        try requireContainer(container)
        return try issue(
            TokenDescription(
                id: "", kind: .api, container: container, label: label,
                createdAt: platform.milliseconds))
    }

    /// Makes a token that stands for a user, and ends after so many days unless it is renewed; nil:
    /// never. Throws NOT_FOUND when there is no such user.
    public func issueUserToken(
        userRecordName: String, label: String, days: Int? = nil
    ) throws(RecordError) -> IssuedToken {
        guard try users().contains(where: { $0.userRecordName == userRecordName }) else {
            throw RecordError(.notFound, "There is no user \(userRecordName); create one first.")
        }
        return try issue(
            TokenDescription(
                id: "", kind: .user, userRecordName: userRecordName, label: label,
                createdAt: platform.milliseconds), try life(days: days))
    }

    /// Makes the token useless from now on. Throws NOT_FOUND when there is no such good token.
    public func revoke(tokenID: String) throws(RecordError) {
        let now = platform.milliseconds
        guard try backend.write({ try $0.revokeToken(tokenID, at: now) }) else {
            throw RecordError(
                .notFound, "There is no token \(tokenID) that is not revoked already.")
        }
        tellAccessChanged()
        try audit?.note(.tokenRevoked, tokenID)
    }

    /// All tokens without their secrets, oldest first.
    public func tokens() throws(RecordError) -> [TokenDescription] {
        try backend.read { try $0.tokens().map(\.description) }.map { token in
            var token = token
            token.lastUsedAt = uses.last(of: token.id, kept: token.lastUsedAt)
            return token
        }
    }

    func issue(
        _ description: TokenDescription, _ life: TokenLife? = nil
    ) throws(RecordError) -> IssuedToken {
        do {
            var description = description
            description.expiresAt = life?.endsAt
            description.id = try secrets.bytes(8).map {
                String($0 / 16, radix: 16) + String($0 % 16, radix: 16)
            }.joined()
            let secret = TokenText(
                id: description.id, secret: Base64URL.text(try secrets.bytes(32)))
            let row = TokenRow(
                description: description, hash: try SecretHash.sha256(secret.text), life: life)
            try backend.write { try $0.add(row) }
            try audit?.note(
                .tokenMade, description.id,
                [
                    "kind": description.kind.rawValue, "label": description.label,
                    "for": description.container ?? description.userRecordName ?? "",
                ])
            return IssuedToken(description: description, secret: secret.text)
        } catch let error as RecordError {
            throw error
        } catch {
            throw RecordError(.internalError, "No secret could be drawn: \(error).")
        }
    }

    /// A text that nobody can guess.
    package func drawnSecret() throws(RecordError) -> String {
        Base64URL.text(try drawnBytes(32))
    }

    func drawnBytes(_ count: Int) throws(RecordError) -> [UInt8] {
        do {
            return try secrets.bytes(count)
        } catch {
            throw RecordError(.internalError, "No secret could be drawn: \(error).")
        }
    }

    // MARK: Authentication

    func authenticate(
        apiToken: String?, userToken: String?, container: String, admitsWorld: Bool = false
    ) throws(RecordError) -> (Caller, TokenOutlook?) {
        try requireContainer(container)
        guard let apiToken, !apiToken.isEmpty else {
            throw RecordError(
                .authenticationRequired, "Send the container's API token as ckAPIToken.")
        }
        let api = try good(apiToken, .api)
        guard api.container?.isExactly(container) == true else {
            throw RecordError(
                .authenticationFailed, "The API token is for another container than \(container).")
        }
        guard let userToken, !userToken.isEmpty else {
            if admitsWorld { return (.world, nil) }
            throw RecordError(
                .authenticationRequired, "Send the user's token as ckWebAuthToken.")
        }
        let text = TokenRotation.issued(userToken)
        let user = try shown(text, .user)
        guard let name = user.row.description.userRecordName else { throw Self.refused(.user) }
        let caller = Caller(userRecordName: name, tokenID: user.row.description.id)
        return (caller, outlook(of: user, text))
    }

    /// The description of a good token.
    func good(
        _ text: String, _ kind: TokenDescription.Kind
    ) throws(RecordError) -> TokenDescription {
        try shown(text, kind).row.description
    }

    /// Throws AUTHENTICATION_FAILED where the user's token, or the server's key, was revoked or has
    /// ended; nil stands for callers that somebody else lets in.
    package func requireGood(tokenID: String?) throws(RecordError) {
        guard let tokenID else { return }
        let now = platform.milliseconds
        let isGood =
            if let token = try token(tokenID) {
                token.description.revokedAt == nil
                    && token.life.map { $0.endsAt > now } ?? true
            } else {
                try backend.read { try $0.serverKey(tokenID) }
                    .map { $0.key.revokedAt == nil } ?? false
            }
        guard isGood else { throw Self.refused(.user) }
    }

    func token(_ id: String) throws(RecordError) -> TokenRow? {
        try memory.row(id, at: backend.accountsVersion()) { () throws(RecordError) in
            try backend.read { try $0.token(id) }
        }
    }

    static func refused(_ kind: TokenDescription.Kind) -> RecordError {
        let name = kind == .api ? "API token (ckAPIToken)" : "user token (ckWebAuthToken)"
        return RecordError(
            .authenticationFailed,
            "The \(name) is wrong or was revoked; ask the administrator for a new one.")
    }

    static func unknown(_ container: String) -> RecordError {
        RecordError(
            .notFound,
            "There is no container \(container) on this service; "
                + "check its spelling or ask the administrator to create it.")
    }
}

/// A token as clients send it: `dpt_<id>_<secret>`.
struct TokenText {
    let id: String
    let secret: String
    var text: String { "dpt_\(id)_\(secret)" }

    init(id: String, secret: String) {
        self.id = id
        self.secret = secret
    }

    init?(_ text: String) {
        guard text.utf8.count <= 200 else { return nil }
        let parts = text.utf8.split(
            separator: UInt8(ascii: "_"), maxSplits: 2, omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        guard parts.count == 3, parts[0] == "dpt" else { return nil }
        self.init(id: parts[1], secret: parts[2])
    }
}
