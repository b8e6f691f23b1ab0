package import RecordWire

/// The course of one sync round, as a value: events in, the next instruction out.
///
/// No clock, socket or disk inside, so that every order of events, every lost reply and every crash
/// between two instructions can be tried. A round reads the zone to its end, then exports until
/// nothing waits, then reads again, until both are quiet.
package struct MirrorMachine: Sendable {
    /// What happened. Each instruction is answered by one event.
    package enum Event: Sendable {
        case start
        case prepared(ZoneEntry)
        case noted
        case replied(RecordResponse)
        case failed(MirrorFailure)
        case applied(ImportOutcome, moreComing: Bool, token: String?)
        /// `waiting`: records that wait for export, once the history was read to its end.
        case analysed(waiting: Int, moreWaiting: Bool)
        case built(ExportBatch)
        case recorded(ReplyOutcome)
        /// Which assets have to be here before records are applied.
        case planned([AssetDownload])
        /// An asset is here.
        case downloaded
        case uploaded(RecordAsset)
        /// The value was changed meanwhile.
        case outdated
        case woke
    }

    /// What to do next.
    package enum Instruction: Sendable {
        case prepare
        case send(RecordRequest)
        case noteZone
        /// Apply a page that was asked for with a token, unless the ledger has moved on meanwhile.
        case apply(ZoneChangesReply, PageRequest)
        case applyRecords([Record], EpochLine?, PageRequest)
        case planDownloads([Record])
        case download(AssetDownload)
        case upload(AssetUpload, address: String)
        case keepReceipt(RecordAsset, of: AssetUpload)
        /// Notes which content came under a plain service's name for it.
        case keepName(AssetDownload)
        case refuseUpload(AssetUpload, RecordError)
        case analyse
        /// Build a batch of at most so many records; nil for as many as the settings allow.
        case build(recordsMax: Int?)
        case record(ExportBatch, RecordsReply)
        /// Put the batch's records aside: the service takes none of them even alone.
        case refuse(ExportBatch, RecordError)
        /// Compare all that is known here with the zone, read from its start.
        case reconcile
        /// Take a new name for the store, after the round of this number.
        case renewInstance(after: Int64)
        case forgetZone
        /// The zone of another user's is shared no more: its objects leave the store.
        case leaveZone
        /// Wait before another try: at least what the service asked for, more with each attempt.
        case wait(attempt: Int, retryAfterSeconds: Double?)
        case finish(RoundResult)
    }

    private enum Phase {
        case idle, preparing, makingZone, fetching, applying, analysing, building, recording
        case sending(ExportBatch)
        case lookingUp, waiting, losingZone, leavingZone
        case askingAddresses([AssetUpload])
        case uploading(AssetUpload, rest: [AssetTransfer])
        case noting(rest: [AssetTransfer])
    }

    /// An upload with the address that it goes to.
    private struct AssetTransfer {
        var upload: AssetUpload
        var address: String
    }

    /// How sending goes.
    private struct Course {
        /// Something was sent since the zone was last read to its end.
        var hasSent = false
        /// How many records the next batch may have, after one that was too large.
        var recordsMax: Int?
    }

    package let zoneID: ZoneID
    /// How the service speaks.
    package let dialect: ServiceDialect
    package var limits: RoundLimits { bounds.limits }
    package private(set) var result = RoundResult()
    private var phase = Phase.idle
    private var token: String?
    private var client: ClientState?
    private var marks = LedgerMarks()
    private var bounds: RoundBounds
    private var course = Course()
    /// Records that a plain service did not find: its changes tell whether they were deleted.
    private var missing = MissingRecords()
    /// The request that follows once what is done now is done, where that is known before. It only
    /// reads, so that it may be carried meanwhile, and be for nothing.
    package private(set) var requestAhead: RecordRequest?
    /// What came and waits for its assets.
    private var landing = AssetLanding()

    package init(
        zoneID: ZoneID, limits: RoundLimits = RoundLimits(),
        dialect: ServiceDialect = .extended
    ) {
        self.zoneID = zoneID
        self.dialect = dialect
        bounds = RoundBounds(limits: limits)
    }

    /// Takes note of what happened and says what to do next.
    package mutating func handle(_ event: Event) -> Instruction {
        if case .failed(let failure) = event { return handle(failure) }
        switch (phase, event) {
        case (_, .start): return enter(.preparing, .prepare)
        case (.preparing, .prepared(let zone)): return prepared(zone)
        case (.makingZone, .replied(let response)): return madeZone(response)
        case (.makingZone, .noted): return fetch()
        case (.fetching, .replied(let response)): return receive(response)
        case (.fetching, .noted): return fetch()
        case (.applying, .applied(let outcome, let moreComing, let token)):
            return applied(outcome, moreComing: moreComing, token: token)
        case (.applying, .prepared(let zone)), (.lookingUp, .prepared(let zone)):
            if token != nil, zone.token == nil, dialect == .plain { result.comparisons += 1 }
            token = zone.token
            client = zone.client
            marks = zone.marks
            return fetch()
        case (.analysing, .analysed(let waiting, let moreWaiting)):
            bounds.expect(waiting)
            return moreWaiting ? enter(.analysing, .analyse) : build()
        case (.building, .built(let batch)): return send(batch)
        case (.sending(let batch), .replied(let response)): return record(batch, response)
        case (.recording, .recorded(let outcome)): return recorded(outcome)
        case (.lookingUp, .replied(let response)): return lookedUp(response)
        case (.lookingUp, .applied(let outcome, _, _)):
            result.imported += outcome
            return lookUpWaiting() ?? enter(.analysing, .analyse)
        case (.applying, .planned(let downloads)):
            landing.plan(downloads)
            return fetchNextAsset()
        case (.applying, .downloaded):
            guard dialect == .plain, let asset = landing.current else { return fetchNextAsset() }
            return enter(.applying, .keepName(asset))
        case (.applying, .noted): return fetchNextAsset()
        case (.askingAddresses(let uploads), .replied(let response)):
            return beginUploads(uploads, response)
        case (.uploading(let upload, let rest), .uploaded(let asset)):
            bounds.sentSome()
            return enter(.noting(rest: rest), .keepReceipt(asset, of: upload))
        case (.uploading(_, let rest), .outdated): return upload(rest)
        case (.noting(let rest), .noted): return upload(rest)
        case (.waiting, .woke), (.losingZone, .noted): return enter(.preparing, .prepare)
        case (.leavingZone, .noted): return end(with: .shareEnded(zoneID))
        default: return stop(.stopped, "The mirror met an event that does not fit its state.")
        }
    }

    private mutating func enter(_ next: Phase, _ instruction: Instruction) -> Instruction {
        phase = next
        requestAhead = nil
        return instruction
    }

    // MARK: Import

    private mutating func prepared(_ zone: ZoneEntry) -> Instruction {
        token = zone.token
        client = zone.client
        marks = zone.marks
        landing.begin(waiting: zone.waitingForAssets)
        guard bounds.beginPass() else { return stopStorm() }
        return zone.exists || isGiven ? fetch() : makeZone()
    }

    private mutating func makeZone() -> Instruction {
        send(.modifyZones([ZoneOperation(.create, zoneID)]), in: .makingZone)
    }

    /// A zone that the service will not make ends the round with the service's words.
    private mutating func madeZone(_ response: RecordResponse) -> Instruction {
        guard case .zones(let zones) = response, let answer = zones.first else {
            return stop(.serviceRefused, "The service answered zones/modify with something else.")
        }
        guard case .failure(let error) = answer else { return enter(.makingZone, .noteZone) }
        guard error.code.isTransient else { return end(with: MirrorError(refusal: error)) }
        return handle(MirrorFailure(error))
    }

    private mutating func fetch() -> Instruction {
        course.hasSent = false
        return send(changes(after: token), in: .fetching)
    }

    private var request: PageRequest {
        PageRequest(token: token, toldWriteIDs: client?.wantsWriteIDs ?? true, marks: marks)
    }

    private func changes(after token: String?) -> RecordRequest {
        var zone = ZoneChanges.Zone(zoneID: zoneID, syncToken: token)
        zone.client = client
        return .zoneChanges(ZoneChanges(zones: [zone]))
    }

    /// The only way to a request.
    private mutating func send(_ request: RecordRequest, in next: Phase) -> Instruction {
        guard bounds.countRequest() else { return stopStorm() }
        result.requests += 1
        return enter(next, .send(request))
    }

    private mutating func receive(_ response: RecordResponse) -> Instruction {
        guard case .zoneChanges(let zones) = response, let page = zones.first else {
            return stop(.serviceRefused, "The service answered changes/zone with something else.")
        }
        if let error = page.failure { return handle(MirrorFailure(error)) }
        guard !page.moreComing || page.syncToken != token else {
            return stop(.serviceRefused, "The service says that more comes, and never sends it.")
        }
        see(page.records.map(\.recordChangeTag))
        bounds.readSome()
        return land(.page(page, request), page.records)
    }

    // MARK: Assets

    /// Applies records, once the assets that they need are here. One that does not come holds up
    /// its record alone.
    private mutating func land(_ cargo: AssetLanding.Cargo, _ records: [Record]) -> Instruction {
        landing.take(cargo)
        guard records.contains(where: \.hasAssets) else { return touchDown() }
        return enter(.applying, .planDownloads(records))
    }

    private mutating func fetchNextAsset() -> Instruction {
        guard let next = landing.next() else { return touchDown() }
        return enter(.applying, .download(next))
    }

    /// What did not come for a passing cause is asked for once more, from the part that came; what
    /// is not to be had is passed over.
    private mutating func missAsset(_ failure: MirrorFailure) -> Instruction? {
        guard landing.isFetching else { return nil }
        if case .transient = failure {
            if landing.mayRetry() {
                landing.leave()
                return nil
            }
            landing.passOver()
        }
        return fetchNextAsset()
    }

    private mutating func touchDown() -> Instruction {
        let (cargo, awaited) = landing.leave()
        switch cargo {
        case .page(let page, var request):
            request.awaited = awaited
            let instruction = enter(.applying, .apply(page, request))
            if page.moreComing { requestAhead = changes(after: page.syncToken) }
            return instruction
        case .records(let records, let line):
            var request = request
            request.awaited = awaited
            return enter(.lookingUp, .applyRecords(records, line, request))
        case nil: return stop(.stopped, "The mirror met an event that does not fit its state.")
        }
    }

    /// Records that wait for assets are read anew, since addresses have their time.
    private mutating func lookUpWaiting() -> Instruction? {
        guard let names = landing.takeWaiting() else { return nil }
        return lookUp(names)
    }

    private mutating func lookUp(_ names: [String]) -> Instruction {
        var lookup = LookupRecords(recordNames: names, zoneID: zoneID)
        lookup.client = client
        lookup.client?.wantsWriteIDs = true
        return send(.lookupRecords(lookup), in: .lookingUp)
    }

    private mutating func askAddresses(for uploads: [AssetUpload]) -> Instruction {
        let request = UploadAssets(tokens: uploads.map(\.token), zoneID: zoneID)
        return send(.uploadAssets(request), in: .askingAddresses(uploads))
    }

    private mutating func beginUploads(
        _ uploads: [AssetUpload], _ response: RecordResponse
    ) -> Instruction {
        guard case .assetUploads(let addresses) = response, addresses.count == uploads.count else {
            return stop(.serviceRefused, "The service answered assets/upload with something else.")
        }
        return upload(
            zip(uploads, addresses).map { AssetTransfer(upload: $0, address: $1.url) })
    }

    private mutating func upload(_ transfers: [AssetTransfer]) -> Instruction {
        guard let next = transfers.first else { return build() }
        return enter(
            .uploading(next.upload, rest: Array(transfers.dropFirst())),
            .upload(next.upload, address: next.address))
    }

    private mutating func applied(
        _ outcome: ImportOutcome, moreComing: Bool, token next: String?
    ) -> Instruction {
        result.imported += outcome
        // What came may have to be told of again, merged.
        bounds.expect(outcome.received)
        token = next
        if moreComing { return fetch() }
        return lookUpWaiting() ?? enter(.analysing, .analyse)
    }

    // MARK: Export

    /// The batch that is under way, where the next one may be built meanwhile.
    package var batchUnderWay: ExportBatch? {
        if course.recordsMax == nil, case .sending(let batch) = phase { batch } else { nil }
    }

    private mutating func build() -> Instruction {
        enter(.building, .build(recordsMax: course.recordsMax))
    }

    private mutating func send(_ batch: ExportBatch) -> Instruction {
        bounds.expect(batch.noted)
        guard !batch.needsReading else { return startNextPass() }
        guard !batch.isEmpty else { return course.hasSent ? startNextPass() : finish() }
        guard bounds.countExport() else { return stopStorm() }
        guard batch.uploads.isEmpty else { return askAddresses(for: batch.uploads) }
        course.hasSent = true
        return send(request(for: batch), in: .sending(batch))
    }

    private func request(for batch: ExportBatch) -> RecordRequest {
        var request = ModifyRecords(operations: batch.operations, zoneID: zoneID)
        request.atomic = batch.isAtomic
        request.desiredKeys = []
        request.client = client
        return .modifyRecords(request)
    }

    /// The request that sends `batch` once the reply that came is recorded, where no other comes
    /// before it.
    package func request(behindReply batch: ExportBatch) -> RecordRequest? {
        guard case .recording = phase, batch.uploads.isEmpty, !batch.isEmpty else { return nil }
        return request(for: batch)
    }

    /// A batch that is too large is built again with half its records; a single record is put
    /// aside, and the rest goes on. A name goes with the object that took it in.
    private mutating func split(_ batch: ExportBatch, _ error: RecordError) -> Instruction {
        guard batch.items.count > (batch.isAtomic ? 2 : 1) else {
            return enter(.recording, .refuse(batch, error))
        }
        course.recordsMax = batch.items.count / 2
        return build()
    }

    private mutating func record(_ batch: ExportBatch, _ response: RecordResponse) -> Instruction {
        guard case .records(let reply) = response, reply.results.count == batch.items.count else {
            return stop(.serviceRefused, "The service answered records/modify with something else.")
        }
        see(
            reply.results.map { result in
                if case .record(let record) = result { record.recordChangeTag } else { nil }
            })
        var batch = batch
        if dialect == .plain { missing.note(reply, to: &batch) }
        // Back to large batches step by step: records differ in size.
        course.recordsMax = course.recordsMax.flatMap { $0 < 1_000 ? $0 * 2 : nil }
        return enter(.recording, .record(batch, reply))
    }

    private mutating func recorded(_ outcome: ReplyOutcome) -> Instruction {
        bounds.expect(outcome.noted)
        result.exported += outcome.exported
        result.refused += outcome.refused
        result.imported += outcome.imported
        if outcome.exported + outcome.refused + outcome.imported.received > 0 { bounds.sentSome() }
        if outcome.zoneIsMissing { return forgetZone() }
        if missing.takeNews() { return startNextPass() }
        if !outcome.unknownStates.isEmpty {
            return lookUp(outcome.unknownStates)
        }
        if let seconds = outcome.retryAfterSeconds { return wait(seconds, .throttled) }
        return build()
    }

    private mutating func lookedUp(_ response: RecordResponse) -> Instruction {
        guard case .records(let reply) = response else {
            return stop(.serviceRefused, "The service answered records/lookup with something else.")
        }
        let records = reply.results.compactMap { result in
            if case .record(let record) = result { record } else { nil }
        }
        return land(.records(records, reply.epochs), records)
    }

    /// After an export the zone is read once more, for what others wrote meanwhile.
    private mutating func startNextPass() -> Instruction {
        enter(.preparing, .prepare)
    }

    /// The newest change seen travels with the next request, so that a service that was restored in
    /// between notices.
    private mutating func see(_ tags: [String?]) {
        let newest = tags.compactMap { $0.flatMap(ChangeTag.init) }.max { $0.change < $1.change }
        guard let newest else { return }
        let seen = client?.witness.flatMap(ChangeTag.init)?.change ?? -1
        if seen < newest.change { client?.witness = newest.text }
    }

    // MARK: Ends

    private mutating func finish() -> Instruction {
        result.isInSync = true
        return enter(.idle, .finish(result))
    }

    private mutating func stop(_ code: MirrorError.Code, _ message: String) -> Instruction {
        end(with: MirrorError(code, message))
    }

    private mutating func stopStorm() -> Instruction {
        stop(.stopped, "Sync did not come to rest. Run it again; report this if it stays so.")
    }

    private mutating func end(with error: MirrorError) -> Instruction {
        result.error = error
        return enter(.idle, .finish(result))
    }

    /// A database has its default zone from the beginning; others make their zones.
    private var isGiven: Bool { isShared || zoneID.zoneName == ZoneID.defaultName }

    /// Zones of others are closed by their owners.
    private var isShared: Bool { zoneID.ownerRecordName != nil }

    private mutating func forgetZone() -> Instruction {
        if isShared { return enter(.leavingZone, .leaveZone) }
        result.comparisons += 1
        return enter(.losingZone, .forgetZone)
    }

    private mutating func handle(_ failure: MirrorFailure) -> Instruction {
        if case .uploading(let upload, let rest) = phase, let refusal = failure.refusalOfAsset {
            return enter(.noting(rest: rest), .refuseUpload(upload, refusal))
        }
        if case .askingAddresses(let uploads) = phase, let refusal = failure.refusalOfAddress {
            guard uploads.count == 1 else {
                return askAddresses(for: Array(uploads.prefix(uploads.count / 2)))
            }
            return enter(.noting(rest: []), .refuseUpload(uploads[0], refusal))
        }
        if case .applying = phase, let next = missAsset(failure) { return next }
        switch failure {
        case .tokenExpired:
            token = nil
            client?.witness = nil
            result.comparisons += 1
            return enter(.fetching, .reconcile)
        case .instanceForked:
            result.forks += 1
            guard result.forks <= limits.forksMax else {
                return stop(
                    .stopped,
                    "Other copies of this store sync at the same time, again and again. "
                        + "Give each program a file of its own.")
            }
            return enter(.losingZone, .renewInstance(after: client?.round ?? 0))
        case .zoneMissing: return forgetZone()
        case .transient(let error, let seconds):
            result.lastFailure = error
            return wait(seconds, error.code)
        case .tooLarge(let error):
            if case .sending(let batch) = phase { return split(batch, error) }
            return end(with: MirrorError(refusal: error))
        case .permanent(let error) where isTokenRefused(error): return handle(.tokenExpired)
        case .permanent(let error):
            guard case .sending(let batch) = phase, mayTakeLess(error, than: batch) else {
                return end(with: error)
            }
            return split(batch, RecordError(.badRequest, error.message))
        }
    }

    /// A plain service has no code for a token that it does not know.
    private func isTokenRefused(_ error: MirrorError) -> Bool {
        guard dialect == .plain, case .fetching = phase, token != nil else { return false }
        return error.fields["code"] == RecordError.Code.badRequest.rawValue
    }

    /// A plain service has no code for a batch of too many records either. What it refuses of a
    /// single one ends the round: it may be what all of them have.
    private func mayTakeLess(_ error: MirrorError, than batch: ExportBatch) -> Bool {
        dialect == .plain && batch.items.count > 1
            && error.fields["code"] == RecordError.Code.badRequest.rawValue
    }

    /// The result when its driver will not wait as long as the service asks.
    package var givenUp: RoundResult {
        var result = result
        result.error =
            result.lastFailure
            ?? MirrorError(.throttled, "The service asks to wait. Run sync again later.")
        return result
    }

    private mutating func wait(_ seconds: Double?, _ code: MirrorError.Code) -> Instruction {
        result.retryAfterSeconds = seconds
        let attempt = bounds.countFailure(whileSending: isExporting)
        guard let attempt else {
            return end(
                with: result.lastFailure
                    ?? MirrorError(code, "The service asks to wait. Run sync again later."))
        }
        return enter(.waiting, .wait(attempt: attempt, retryAfterSeconds: seconds))
    }

    private var isExporting: Bool {
        switch phase {
        case .sending, .recording, .lookingUp, .askingAddresses, .uploading, .noting: true
        default: false
        }
    }
}
