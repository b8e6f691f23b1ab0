public import Platform
public import RecordService

extension RecordServer {
    /// Puts `service` on the network; listens from `start` on.
    public convenience init(
        service: RecordService, configuration: ServerConfiguration, platform: Environment = .system
    ) {
        var configuration = configuration
        let requestBytesMax = service.limits.requestBytesMax
        configuration.http.bodyBytesMax = min(configuration.http.bodyBytesMax, requestBytesMax)
        configuration.expandedBytesMax = min(configuration.expandedBytesMax, requestBytesMax)
        configuration.throttle = configuration.throttle ?? service.limits.throttle
        self.init(
            door: Authenticator(service),
            capabilities: ServerCapabilities(service.limits, configuration),
            configuration: configuration, platform: platform)
    }
}

extension Authenticator {
    /// The way into a real service.
    init(_ service: RecordService) {
        self.init { tokens, container in
            let caller = try service.authenticate(
                apiToken: tokens.apiToken, userToken: tokens.userToken, container: container)
            return Admitted(user: caller.userRecordName) { request, target in
                try service.handle(request, target: target, caller: caller)
            }
        }
    }
}

extension ServerCapabilities {
    /// The numbers of the service, and of the way to it.
    init(_ limits: ServiceLimits, _ configuration: ServerConfiguration) {
        self.init(
            limits: [
                "operationsPerRequest": limits.operationsPerRequestMax,
                "resultsDefault": limits.resultsMax,
                "resultsPerResponse": limits.resultsMax,
                "recordBytes": limits.recordBytesMax,
                "requestBytes": configuration.expandedBytesMax,
                "requestBytesAsSent": configuration.http.bodyBytesMax,
                "responsePageBytes": limits.pageBytesMax,
                "fieldsPerRecord": limits.fieldsPerRecordMax,
                "zonesPerDatabase": limits.zonesPerDatabaseMax,
                "nameBytes": limits.nameBytesMax,
            ],
            extensions: [
                "CHANGE_TOKEN_EXPIRED", "LIMIT_EXCEEDED", "gzipRequests", "previousSyncToken",
                "epochs", "serverRecord", "tokensInHeaders", "writeID",
            ])
    }
}
