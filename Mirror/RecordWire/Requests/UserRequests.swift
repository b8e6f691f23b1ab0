/// A person's name in its parts, by the names of the wire, such as `givenName`.
public struct NameParts: Hashable, Sendable, Codable {
    public var texts: [String: String]

    public init(_ texts: [String: String] = [:]) { self.texts = texts }

    public init(givenName: String?, familyName: String?) {
        texts = [:]
        texts["givenName"] = givenName
        texts["familyName"] = familyName
    }

    public var givenName: String? { texts["givenName"] }
    public var familyName: String? { texts["familyName"] }

    static let keys: [WireKey] = [
        "familyName", "givenName", "middleName", "namePrefix", "nameSuffix", "nickname",
        "phoneticRepresentation",
    ]

    package static var names: [String] { keys.map(\.text) }
}

/// By what a user is looked for.
public struct UserLookupInfo: Hashable, Sendable, Codable {
    public var emailAddress: String?
    public var phoneNumber: String?
    public var userRecordName: String?

    public init(
        emailAddress: String? = nil, phoneNumber: String? = nil, userRecordName: String? = nil
    ) {
        self.emailAddress = emailAddress
        self.phoneNumber = phoneNumber
        self.userRecordName = userRecordName
    }
}

/// Who somebody is, as far as is told.
public struct UserIdentity: Hashable, Sendable, Codable {
    public var userRecordName: String?
    public var nameComponents: NameParts?
    public var lookupInfo: UserLookupInfo?

    public init(
        userRecordName: String? = nil, nameComponents: NameParts? = nil,
        lookupInfo: UserLookupInfo? = nil
    ) {
        self.userRecordName = userRecordName
        self.nameComponents = nameComponents
        self.lookupInfo = lookupInfo
    }
}

/// `users/discover`, and the operations that it took the place of.
public struct UserLookup: Hashable, Sendable {
    public enum Form: Hashable, Sendable {
        case discover
        /// `users/discover` by GET: those of the caller's address book.
        case addressBook
        case email, id
        /// `users/lookup/contacts`
        case contacts

        /// Whether users are told as `users/current` tells them.
        var isFormer: Bool { self == .email || self == .id || self == .contacts }
    }
    public var form: Form
    public var infos: [UserLookupInfo]

    public init(_ form: Form, _ infos: [UserLookupInfo] = []) {
        self.form = form
        self.infos = infos
    }
}

/// The users who were found; of others nothing is said.
public struct UsersReply: Hashable, Sendable {
    public var users: [UserIdentity]
    public var form: UserLookup.Form

    public init(_ users: [UserIdentity], form: UserLookup.Form) {
        self.users = users
        self.form = form
    }
}
