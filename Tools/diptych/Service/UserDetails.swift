internal import RecordService

/// What `diptych service users` is told of a user beside the label.
struct UserDetails {
    static let email = Option("email", "ADDRESS", "users: by which others invite the user")
    static let givenName = Option("given-name", "NAME", "users: the user's own name")
    static let familyName = Option("family-name", "NAME", "users: the family's name")
    static let discoverable = Option(
        "discoverable", "yes|no", "users: whether others may find the user")
    static let options = [email, givenName, familyName, discoverable]

    private let email: String?
    private let givenName: String?
    private let familyName: String?
    private let isDiscoverable: Bool?

    init(_ arguments: Arguments) throws {
        email = arguments.value(Self.email)
        givenName = arguments.value(Self.givenName)
        familyName = arguments.value(Self.familyName)
        let word = try arguments.choice(Self.discoverable, among: ["yes", "no"])
        isDiscoverable = word.map { $0 == "yes" }
    }

    /// What was told in the place of what was known; an empty text is none.
    func profile(after known: UserProfile = UserProfile()) -> UserProfile {
        func told(_ text: String?, _ former: String?) -> String? {
            text.map { $0.isEmpty ? nil : $0 } ?? former
        }
        return UserProfile(
            emailAddress: told(email, known.emailAddress),
            givenName: told(givenName, known.givenName),
            familyName: told(familyName, known.familyName),
            isDiscoverable: isDiscoverable ?? known.isDiscoverable)
    }

    func save(of user: ServiceUser, _ accounts: ServiceAccounts) throws {
        let known = try accounts.profile(of: user.userRecordName)
        let profile = profile(after: known)
        guard profile != known else { return }
        try accounts.setProfile(profile, of: user.userRecordName)
    }
}

extension ServiceAccounts {
    /// The user of this record name or label.
    func user(called name: String) throws -> ServiceUser {
        let all = try users()
        let found = all.filter { $0.userRecordName == name || $0.label == name }
        guard let user = found.first, found.count == 1 else {
            throw CommandError(
                "unknownUser",
                found.isEmpty
                    ? "There is no user '\(name)'."
                    : "\(found.count) users are called '\(name)'.",
                hint: "`diptych service users` lists them; a record name names one of them.")
        }
        return user
    }
}
