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
            configuration: configuration, platform: platform,
            // Where it fails, those who wait hear of changes when their time is up.
            everySecond: { try? service.noticeOtherWriters() })
    }
}

extension Authenticator {
    /// The way into a real service.
    init(_ service: RecordService) {
        self.init { tokens, container in
            let caller = try service.authenticate(
                apiToken: tokens.apiToken, userToken: tokens.userToken, container: container,
                admitsWorld: tokens.isForWorld)
            var admitted = Admitted(
                user: caller.userRecordName,
                ask: { try service.handle($0, target: $1, caller: caller) },
                listen: { try service.listen(for: $0, target: $1, caller: caller, changed: $2) })
            admitted.isWorld = caller == .world
            return admitted
        }
        courier = CourierDoor(
            user: { try service.user(ofCourierToken: $0) },
            next: { try service.nextNotice(forCourierToken: $0) },
            listen: { try service.listen(forCourierToken: $0, changed: $1) })
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
                "waitSeconds": Int(configuration.http.held.secondsMax),
            ],
            extensions: [
                "CHANGE_TOKEN_EXPIRED", "LIMIT_EXCEEDED", "gzipRequests", "previousSyncToken",
                "epochs", "publicChanges", "serverRecord", "tokensInHeaders", "waitSeconds",
                "webcourier",
                "writeID",
            ])
    }
}
