/// Users on the wire. (SERVICE §3, users)
extension WireObject {
    func userLookup() throws -> UserLookup {
        try allow(["lookupInfos"])
        return UserLookup(
            .discover, try required("lookupInfos") { try objects($0) { try $0.lookupInfo() } })
    }

    /// The forms that `users/discover` took the place of.
    func formerUserLookup(_ form: UserLookup.Form) throws -> UserLookup {
        try allow(["users"])
        let infos = try required("users") {
            try objects($0) { entry in
                guard form == .email else {
                    try entry.allow(["userRecordName"])
                    return UserLookupInfo(
                        userRecordName: try entry.required("userRecordName", entry.string))
                }
                try entry.allow(["emailAddress"])
                return UserLookupInfo(
                    emailAddress: try entry.required("emailAddress", entry.string))
            }
        }
        return UserLookup(form, infos)
    }

    private func lookupInfo() throws -> UserLookupInfo {
        try allow(["emailAddress", "phoneNumber", "userRecordName"])
        return UserLookupInfo(
            emailAddress: try string("emailAddress"), phoneNumber: try string("phoneNumber"),
            userRecordName: try string("userRecordName"))
    }

    func userIdentity() throws -> UserIdentity {
        try allow(["userRecordName", "nameComponents", "lookupInfo"])
        return UserIdentity(
            userRecordName: try string("userRecordName"),
            nameComponents: try object("nameComponents")?.nameComponents(),
            lookupInfo: try object("lookupInfo")?.lookupInfo())
    }

    private func nameComponents() throws -> NameParts {
        try allow(NameParts.keys)
        var name = NameParts()
        for key in NameParts.keys { name.texts[key.text] = try string(key) }
        return name
    }

    func usersReply(to lookup: UserLookup) throws -> UsersReply {
        let users = try required("users") { try objects($0) { try $0.answeredUser() } }
        return UsersReply(users, form: lookup.form)
    }

    /// In either form.
    func answeredUser() throws -> UserIdentity {
        var user = try userIdentity()
        if has("firstName") || has("lastName") {
            user.nameComponents = NameParts(
                givenName: try string("firstName"), familyName: try string("lastName"))
        }
        if let email = try string("emailAddress") {
            user.lookupInfo = UserLookupInfo(emailAddress: email)
        }
        return user
    }
}

extension JSONWriter {
    mutating func userLookup(_ lookup: UserLookup) {
        switch lookup.form {
        case .addressBook: break
        case .contacts: object { _ in }
        case .discover, .email, .id:
            object { writer in
                writer.key(lookup.form == .discover ? "lookupInfos" : "users")
                writer.array(lookup.infos) { writer, info in
                    writer.object { $0.lookupInfo(info) }
                }
            }
        }
    }

    private mutating func lookupInfo(_ info: UserLookupInfo) {
        member("emailAddress", info.emailAddress)
        member("phoneNumber", info.phoneNumber)
        member("userRecordName", info.userRecordName)
    }

    /// Writes the members of a user into the innermost object.
    mutating func userIdentity(_ user: UserIdentity) {
        member("userRecordName", user.userRecordName)
        if let name = user.nameComponents {
            key("nameComponents")
            object { writer in
                for (part, text) in name.texts.sorted(by: { $0.key < $1.key }) {
                    writer.member(part, text)
                }
            }
        }
        if let info = user.lookupInfo {
            key("lookupInfo")
            object { $0.lookupInfo(info) }
        }
    }

    /// As it was before names had parts.
    mutating func formerUser(_ user: UserIdentity) {
        member("userRecordName", user.userRecordName)
        member("firstName", user.nameComponents?.givenName)
        member("lastName", user.nameComponents?.familyName)
        member("emailAddress", user.lookupInfo?.emailAddress)
    }

    mutating func users(_ reply: UsersReply) {
        key("users")
        array(reply.users) { writer, user in
            writer.object { reply.form.isFormer ? $0.formerUser(user) : $0.userIdentity(user) }
        }
    }
}
