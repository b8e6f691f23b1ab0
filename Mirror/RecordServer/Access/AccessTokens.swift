/// The tokens a request shows. They never appear in a description.
package struct AccessTokens: Sendable {
    package var apiToken: String?
    package var userToken: String?
    /// The name of the device that asks, for the stamps of what it writes.
    package var deviceID: String?
    /// Whether what is asked for may be asked without a user's token.
    package var isForWorld = false

    /// Headers go before the query, so that clients can keep tokens out of addresses. In the plain
    /// dialect they are no way in.
    init(of request: HTTPRequest, isPlain: Bool) {
        guard !isPlain else {
            apiToken = request.query["ckAPIToken"]
            userToken = request.query["ckWebAuthToken"]
            return
        }
        apiToken = request.headers["X-Diptych-API-Token"] ?? request.query["ckAPIToken"]
        userToken = request.headers["X-Diptych-User-Token"] ?? request.query["ckWebAuthToken"]
        deviceID = request.headers["X-Diptych-Device"]
    }
}

extension AccessTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "AccessTokens(…)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
