internal import RecordWire

/// The tokens a request shows. They never appear in a description.
package struct AccessTokens: Sendable {
    package var apiToken: String?
    package var userToken: String?
    /// The name of the device that asks, for the stamps of what it writes.
    package var deviceID: String?
    /// Whether what is asked for may be asked without a user's token.
    package var isForWorld = false

    static let apiHeader = "X-Diptych-API-Token"
    static let userHeader = "X-Diptych-User-Token"
    static let deviceHeader = "X-Diptych-Device"
    static let apiArgument = "ckAPIToken"
    static let userArgument = "ckWebAuthToken"

    /// Headers go before the query, so that clients can keep tokens out of addresses. In the plain
    /// dialect they are no way in.
    init(of request: HTTPRequest, isPlain: Bool) {
        guard !isPlain else {
            apiToken = request.query[Self.apiArgument]
            userToken = request.query[Self.userArgument]
            return
        }
        apiToken = request.headers[Self.apiHeader] ?? request.query[Self.apiArgument]
        userToken = request.headers[Self.userHeader] ?? request.query[Self.userArgument]
        deviceID = request.headers[Self.deviceHeader]
    }
}

extension ClientVersion {
    /// nil where the client says none. Throws BAD_REQUEST for what is no version.
    init?(of request: HTTPRequest) throws(RecordError) {
        guard let text = request.headers[Self.header] else { return nil }
        guard let version = ClientVersion(text) else {
            throw RecordError(
                .badRequest,
                "\(Self.header) is no version: one to four numbers with dots between, such as "
                    + "2.10.")
        }
        self = version
    }
}

extension AccessTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "AccessTokens(…)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
