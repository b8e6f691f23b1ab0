internal import RecordService

/// A user as people name one: by record name or label.
enum NamedUser {
    static func find(_ name: String, among users: [ServiceUser]) throws -> ServiceUser {
        let found = users.filter { $0.userRecordName == name || $0.label == name }
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
