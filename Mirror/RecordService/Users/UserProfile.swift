public import RecordWire

/// What a service knows of a user beside the record name; each is optional.
public struct UserProfile: Hashable, Sendable {
    /// By which others invite the user, and find who agreed to be found.
    public var emailAddress: String?
    public var givenName: String?
    public var familyName: String?
    /// Whether the user agreed to be found by others.
    public var isDiscoverable: Bool

    public init(
        emailAddress: String? = nil, givenName: String? = nil, familyName: String? = nil,
        isDiscoverable: Bool = false
    ) {
        self.emailAddress = emailAddress
        self.givenName = givenName
        self.familyName = familyName
        self.isDiscoverable = isDiscoverable
    }
}

extension ServiceAccounts {
    private static let textBytesMax = 255

    /// Others see it where they invite the user: nothing in it may hide or turn around.
    private static func isAddress(_ email: String) -> Bool {
        email.split(separator: "@", omittingEmptySubsequences: false).count == 2
            && email.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator,
                    .surrogate, .privateUse, .unassigned:
                    false
                default: true
                }
            }
    }

    /// Throws BAD_REQUEST for a label that is empty, longer than 255 bytes, or not readable.
    static func check(label: String) throws(RecordError) {
        guard (1...textBytesMax).contains(label.utf8.count), isReadable(label) else {
            throw RecordError(
                .badRequest, "A label has 1 to \(textBytesMax) bytes, and none that do not show.")
        }
    }

    /// Whether all of it shows, on one line and in its order.
    package static func isReadable(_ text: String) -> Bool {
        var isShown = text.isEmpty
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: return false
            default: break
            }
            guard scalar.properties.isDefaultIgnorableCodePoint else {
                isShown = true
                continue
            }
            guard shapesNeighbours(scalar) else { return false }
        }
        return isShown
    }

    /// Joiners and non-joiners, as scripts and emoji have them, and variants of the one before.
    private static func shapesNeighbours(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isJoinControl || scalar.properties.isVariationSelector
    }

    /// What is known of a user; empty where nothing is.
    public func profile(of userRecordName: String) throws(RecordError) -> UserProfile {
        try backend.read { try $0.profile(of: userRecordName) }.map {
            UserProfile(
                emailAddress: $0.emailAddress, givenName: $0.givenName,
                familyName: $0.familyName, isDiscoverable: $0.isDiscoverable)
        } ?? UserProfile()
    }

    /// Makes a user of whom this is known, or none where it is refused: what throws leaves nobody
    /// behind. Throws as `setProfile`, and BAD_REQUEST for a label that is not to be read.
    public func createUser(
        label: String, profile: UserProfile
    ) throws(RecordError) -> ServiceUser {
        try Self.check(label: label)
        let user = newUser(label: label)
        let row = try Self.row(of: profile, user.userRecordName)
        let now = platform.milliseconds
        let isKnown = profile != UserProfile()
        try backend.write { transaction in
            try transaction.add(user, at: now)
            if isKnown { try Self.save(row, transaction) }
        }
        try audit?.note(.userAdded, user.userRecordName, ["label": label])
        if isKnown { try audit?.note(.profileChanged, user.userRecordName) }
        return user
    }

    /// Keeps what is known of a user, in the place of what was before. An address is kept in lower
    /// case, and whoever calls this vouches that it is the user's. Throws NOT_FOUND for an unknown
    /// user, EXISTS for an address that another user has, BAD_REQUEST for one that is none, and
    /// LIMIT_EXCEEDED for more than 255 bytes of one text.
    public func setProfile(
        _ profile: UserProfile, of userRecordName: String
    ) throws(RecordError) {
        let row = try Self.row(of: profile, userRecordName)
        try backend.write { transaction in
            guard try transaction.users().contains(where: { $0.userRecordName == userRecordName })
            else {
                throw RecordError(
                    .notFound, "There is no user \(userRecordName); create one first.")
            }
            try Self.save(row, transaction)
        }
        try audit?.note(.profileChanged, userRecordName)
    }

    /// As it is kept. Throws for texts that are not.
    private static func row(
        of profile: UserProfile, _ userRecordName: String
    ) throws(RecordError) -> ProfileRow {
        let email = profile.emailAddress?.lowercased()
        for text in [email, profile.givenName, profile.familyName] {
            guard text?.utf8.count ?? 1 <= textBytesMax else {
                throw RecordError(
                    .limitExceeded, "A name or an address has at most \(textBytesMax) bytes.")
            }
        }
        if let email, !isAddress(email) {
            throw RecordError(
                .badRequest, "An email address has one @ and no blanks; that is none.")
        }
        return ProfileRow(
            user: userRecordName, emailAddress: email, givenName: profile.givenName,
            familyName: profile.familyName, isDiscoverable: profile.isDiscoverable)
    }

    /// Throws EXISTS for an address that another user has.
    private static func save(_ row: ProfileRow, _ transaction: any BackendTransaction) throws {
        if let email = row.emailAddress, let other = try transaction.profile(emailAddress: email),
            other.user != row.user
        {
            throw RecordError(.exists, "Another user has the address \(email).")
        }
        try transaction.save(row)
    }
}

extension ProfileRow {
    var nameComponents: NameParts? {
        guard givenName != nil || familyName != nil else { return nil }
        return NameParts(givenName: givenName, familyName: familyName)
    }

    var identity: UserIdentity {
        UserIdentity(
            userRecordName: user, nameComponents: nameComponents,
            lookupInfo: emailAddress.map { UserLookupInfo(emailAddress: $0) })
    }
}
