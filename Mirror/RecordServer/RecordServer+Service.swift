public import Platform
public import RecordService
internal import RecordWire

extension RecordServer {
    /// Puts `service` on the network; listens from `start` on. One of the plain dialect publishes
    /// nothing.
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
            capabilities: service.dialect == .plain
                ? nil
                : ServerCapabilities(
                    service.limits, configuration, resumesUploads: service.resumesUploads),
            configuration: configuration, platform: platform, watch: ServiceWatch(service))
    }
}

extension Router {
    /// The routes to `service` without a network, for who hands them requests that were read
    /// elsewhere.
    package init(service: RecordService, platform: Environment) {
        let configuration = ServerConfiguration(tls: .off)
        self.init(
            door: Authenticator(service),
            capabilities: ServerCapabilities(
                service.limits, configuration, resumesUploads: service.resumesUploads),
            configuration: configuration, platform: platform,
            health: HealthAnswers(
                readiness: Readiness(clock: platform.clock) { service.unreadiness() }))
    }
}

extension ServiceWatch {
    /// Each container is a series of its own to who keeps the figures.
    private static let containersMax = 100

    init(_ service: RecordService) {
        self.init()
        // Where it fails, those who wait hear of changes when their time is up, and a token's last
        // use is written later.
        everySecond = {
            try? service.noticeOtherWriters()
            try? service.accounts.keepTokenUses()
        }
        atEnd = { try? service.accounts.keepTokenUses(isLast: true) }
        unreadiness = { service.unreadiness() }
        figures = {
            var figures = ServiceFigures()
            figures.statistics = service.statistics
            figures.commitSizes = service.commitSizes
            (figures.usedBytes, figures.freeBytes) = service.storage
            // A database that does not answer is told by the figure of readiness.
            let containers = (try? service.largestContainers(limit: Self.containersMax)) ?? []
            figures.containers = containers.map {
                ServiceFigures.Container(name: $0.name, records: $0.records, bytes: $0.bytes)
            }
            return figures
        }
    }
}

extension Authenticator {
    /// The way into a real service.
    init(_ service: RecordService) {
        var assets = Assets(
            upload: { try service.beginUpload(key: $0, announced: $1) },
            find: { try service.asset(key: $0) })
        if service.resumesUploads {
            assets.goesOn = { try service.goOnUploading(key: $0, $1) }
            assets.uploaded = { try service.uploadedBytes(key: $0, $1) }
        }
        self.init(assets: assets) { tokens, container in
            let (caller, outlook) = try service.admit(
                apiToken: tokens.apiToken, userToken: tokens.userToken, container: container,
                admitsWorld: tokens.isForWorld)
            var admitted = Admitted(
                user: caller.userRecordName,
                ask: { try service.handle($0, target: $1, caller: caller) },
                listen: { try service.listen(for: $0, target: $1, caller: caller, changed: $2) })
            admitted.askReading = {
                try service.handle($0, target: $1, caller: caller, makesIndexes: false)
            }
            admitted.isWorld = caller == .world
            admitted.outlook = outlook
            return admitted
        }
        signed = { signature, operation, target in
            let signer = try service.signer(signature, of: operation, target: target)
            return Signed(user: signer.caller.userRecordName) { bodyHash, paths in
                let caller = try service.prove(signer, bodyHash: bodyHash, paths: paths)
                var admitted = Admitted(
                    user: caller.userRecordName,
                    ask: { try service.handle($0, target: $1, caller: caller) },
                    listen: {
                        try service.listen(for: $0, target: $1, caller: caller, changed: $2)
                    })
                admitted.askReading = {
                    try service.handle($0, target: $1, caller: caller, makesIndexes: false)
                }
                admitted.stillGood = { try service.requireGood(signer) }
                return admitted
            }
        }
        writerOrder = service.writerOrder
        publicShare = { try service.publicShare(shortGUID: $0) }
        courier = CourierDoor(
            user: { try service.user(ofCourierToken: $0) },
            next: { try service.nextNotice(forCourierToken: $0, poll: $1) },
            listen: { try service.listen(forCourierToken: $0, poll: $1, changed: $2) })
    }
}

extension ServerCapabilities {
    /// The numbers of the service, and of the way to it.
    init(
        _ limits: ServiceLimits, _ configuration: ServerConfiguration, resumesUploads: Bool
    ) {
        self.init(
            limits: [
                "operationsPerRequest": limits.operationsPerRequestMax,
                "resultsDefault": limits.pages.resultsMax,
                "resultsPerResponse": limits.pages.resultsMax,
                "changesPerResponse": limits.pages.changesMax,
                "recordBytes": limits.recordBytesMax,
                "requestBytes": configuration.expandedBytesMax,
                "requestBytesAsSent": configuration.http.bodyBytesMax,
                "responsePageBytes": limits.pages.bytesMax,
                "fieldsPerRecord": limits.fieldsPerRecordMax,
                "zonesPerDatabase": limits.zonesPerDatabaseMax,
                "nameBytes": limits.nameBytesMax,
                "waitSeconds": Int(configuration.http.held.secondsMax),
                "assetBytes": Int(limits.assets.bytesMax),
                "participantsPerShare": limits.work.sharing.participantsMax,
                "recordsPerShare": limits.work.sharing.recordsPerShareMax,
                "sharesPerZone": limits.work.sharing.sharesPerZoneMax,
            ],
            extensions: [
                "ASSET_NOT_FOUND", "CHANGE_TOKEN_EXPIRED", "LIMIT_EXCEEDED",
                WireFormat.publishedName, "assets", "gzipRequests", "naturalKeys",
                "previousSyncToken", "epochs", "publicChanges", "retiredFields", "serverRecord",
                "serverSentEvents", "tokensInHeaders",
                "waitSeconds", "webcourier", "writeID", "zstdRequests",
            ] + (resumesUploads ? ["resumableUploads"] : []))
    }
}
