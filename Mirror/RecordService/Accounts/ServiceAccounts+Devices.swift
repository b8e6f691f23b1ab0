package import RecordWire

extension ServiceAccounts {
    /// Makes what a device shows: a token for apps of a container, and one that stands for a user,
    /// as `issueUserToken` makes it. Both or neither. Throws NOT_FOUND where there is no such
    /// container or user.
    package func issueDeviceTokens(
        container: String, userRecordName: String, label: String, days: Int?
    ) throws(RecordError) -> (api: IssuedToken, user: IssuedToken) {
        try requireContainer(container)
        let user = try issueUserToken(userRecordName: userRecordName, label: label, days: days)
        do throws(RecordError) {
            return (try issueAPIToken(container: container, label: label), user)
        } catch {
            try? revoke(tokenID: user.description.id)
            throw error
        }
    }
}
