internal import MirrorEngine
internal import ObjectModel
public import RecordWire

extension WorldSettings {
    /// A world as a seed draws it: model, sizes, rules, edits and faults. Each kind of fault is
    /// there or not by dice of its own, and in some worlds one kind is alone. `extremes` adds the
    /// kinds of which `WorldExtreme` speaks. With `hasVersions` devices have two versions of the
    /// model, and are updated on the way; but for that it is the same world. With `isSealed` some
    /// attributes are sealed, devices with and without keys, and every third world has two versions
    /// too. With `isShared` there are another user's devices, or devices choose what they send, or
    /// both. With `hasManyDevices` the owner has four or five. With `cascades` deletions take what
    /// hangs on an object, with `losesTime` the service or a device loses some, whatever else there
    /// is, and with `takesBack` devices take refused edits back and restore what was discarded.
    /// With `forgets` the service forgets deletions, where it can say so. `dialect` is the
    /// service's.
    public static func drawn(
        seed: UInt64, extremes: Set<WorldExtreme> = WorldExtreme.drawn, hasVersions: Bool = false,
        isSealed: Bool = false, isShared: Bool = false, hasManyDevices: Bool = false,
        cascades: Bool = false, losesTime: Bool = false, takesBack: Bool = false,
        forgets: Bool = false, dialect: ServiceDialect = .extended
    ) -> WorldSettings {
        let extremes = isShared ? extremes.intersection(WorldExtreme.ofShared) : extremes
        let dice = SeededRandomness(seed: seed &* 7919)
        let moreKeys = SeededRandomness(seed: seed &* 86_028_121)
        let isKeyed = dice.chance(percent: 35) || isSealed && moreKeys.chance(percent: 60)
        let isOrdered = dice.chance(percent: 25)
        var settings = WorldSettings(
            model: models[isSealed ? 1 : 0][isKeyed ? 1 : 0][isOrdered ? 1 : 0])
        settings.dialect = dialect
        settings.devices = 2 + dice.below(2)
        settings.policy = .drawn(by: dice)
        settings.sizes = .drawn(by: dice)
        settings.edits = .drawn(by: dice, isKeyed: isKeyed)
        settings.faults = .drawn(by: dice)
        settings.usesWire = dice.chance(percent: 20)
        // The dice fall for all of them, so that a seed is the same world without one.
        for extreme in WorldExtreme.allCases where dice.chance(percent: extreme.percent) {
            if extremes.contains(extreme) { extreme.add(to: &settings) }
        }
        if dice.chance(percent: 30) {
            settings.faults.devices.clockSkewSecondsMax = 1 + dice.below(4_000)
        }
        // By dice of their own, so that a seed is the same world but for them.
        let undoDice = SeededRandomness(seed: seed &* 982_451_653)
        if undoDice.chance(percent: 30) {
            settings.edits.deletions.undoPercent = undoDice.among(3...20)
        }
        settings.worksAhead = SeededRandomness(seed: seed &* 6_700_417).chance(percent: 50)
        if settings.usesWire, dialect == .extended,
            SeededRandomness(seed: seed &* 15_485_863).chance(percent: 60)
        {
            settings.wireFormat = .archived
        }
        let assetDice = SeededRandomness(seed: seed &* 2_147_483_629)
        if assetDice.chance(percent: 35) {
            settings.sizes.assetValueBytesMax = 2 + assetDice.below(7)
        }
        if isSealed { settings.faults.devices.sealing = WorldSealing() }
        if hasVersions || isSealed && SeededRandomness(seed: seed &* 49_979_687).below(3) == 0 {
            settings.laterModel = laterModels[isSealed ? 1 : 0][isKeyed ? 1 : 0][isOrdered ? 1 : 0]
            settings.updatePercent = 2
        }
        if dice.chance(percent: 25) { settings.policy.addMergedTexts() }
        if isShared { settings.drawSharing(SeededRandomness(seed: seed &* 179_424_673)) }
        if cascades { settings.drawCascades(SeededRandomness(seed: seed &* 573_259_433)) }
        if losesTime { settings.drawLostTime(SeededRandomness(seed: seed &* 472_882_027)) }
        if hasManyDevices { settings.drawDevices(SeededRandomness(seed: seed &* 122_949_823)) }
        if takesBack { settings.drawTakingBack(SeededRandomness(seed: seed &* 86_028_157)) }
        if forgets && dialect == .extended {
            let dice = SeededRandomness(seed: seed &* 141_650_939)
            settings.faults.service.forgetPercent = dice.among(10...60)
        }
        return settings
    }

    /// Each has as many steps as one of two devices has in a world of two.
    private mutating func drawDevices(_ dice: SeededRandomness) {
        devices = 4 + dice.below(2)
        steps = devices * steps / 2
    }

    /// Trees grow and fall: what is linked is deleted as one, often where somebody edits it.
    private mutating func drawCascades(_ dice: SeededRandomness) {
        edits.deletions.cascadePercent = dice.among(30...100)
        edits.entities = ["Folder", "Note", "Cover"]
        (edits.insert, edits.relink, edits.delete) = (30, 70, 16)
        steps *= 2
        if dice.chance(percent: 50) { policy.deletion = .keepEdited }
    }

    private mutating func drawLostTime(_ dice: SeededRandomness) {
        for _ in 0..<dice.among(1...2) { dice.pick(WorldExtreme.ofLostTime)?.add(to: &self) }
    }

    /// Much is refused: what guests who only read edit, or what is too large.
    private mutating func drawTakingBack(_ dice: SeededRandomness) {
        faults.devices.takeBackPercent = dice.among(10...40)
        steps *= 3
        if faults.devices.sharing?.guests ?? 0 > 0 {
            faults.devices.sharing?.permissionPercent = dice.among(4...15)
        }
        if faults.devices.sharing == nil || dice.chance(percent: 20) {
            WorldExtreme.oversized.add(to: &self)
            faults.devices.oversizedPercent = dice.among(8...30)
        }
    }

    private mutating func drawSharing(_ dice: SeededRandomness) {
        // Of bytes and tokens other worlds think.
        usesWire = false
        faults.service.revokedPercent = 0
        let kind = dice.below(10)
        var sharing = WorldSharing()
        if kind < 7 {
            sharing.guests = 1 + dice.below(2)
            sharing.sharesZone = dice.chance(percent: 20)
            if dice.chance(percent: 40) { sharing.permissionPercent = dice.among(2...8) }
            if dice.chance(percent: 50) { sharing.revokePercent = dice.among(1...5) }
            sharing.endsRevoked = dice.chance(percent: 30)
        }
        if kind >= 5 { sharing.selectionPercent = dice.among(2...8) }
        faults.devices.sharing = sharing
    }
}

/// The sample models, with and without sealed attributes, unique labels and ordered tags. They are
/// made once: reading a model costs more than a small world.
private let models = variants(SampleModel.make)
private let laterModels = variants(SampleModel.makeLater)

private func variants(
    _ make: (Bool, Bool, Bool) -> NSManagedObjectModel
) -> [[[NSManagedObjectModel]]] {
    [false, true].map { isSealed in
        [false, true].map { isKeyed in
            [false, true].map { isOrdered in
                let model = make(isKeyed, isOrdered, isSealed)
                model.freeze()
                return model
            }
        }
    }
}

/// A kind of fault beyond what the engine is promised to stand today, or a rule: each can be
/// switched off while its cause is being mended.
public enum WorldExtreme: String, CaseIterable, Sendable {
    case errorRule, oversized, reset, zoneRefused, secondProcess
    case zoneLoss, serviceRestore, serviceLoss, storeRestore, storeCopy

    /// Those that worlds meet unless told otherwise.
    public static let drawn: Set<WorldExtreme> = Set(allCases)

    static let ofLostTime: [WorldExtreme] = [
        .reset, .zoneLoss, .serviceRestore, .serviceLoss, .storeRestore, .storeCopy,
    ]

    /// Those of worlds with shares and selections: no time is lost in them unless it is asked for.
    static let ofShared: Set<WorldExtreme> = [.errorRule, .secondProcess]

    var percent: Int { self == .errorRule ? 15 : 6 }

    func add(to settings: inout WorldSettings) {
        switch self {
        case .errorRule: settings.policy.standard = .error
        case .oversized:
            settings.sizes.recordBytesMax = 4_000
            settings.faults.devices.oversizedPercent = 8
        case .reset: settings.faults.devices.resetPercent = 3
        case .zoneRefused: settings.faults.service.zoneRefusedPercent = 5
        case .secondProcess: settings.faults.devices.hasSecondProcess = true
        case .zoneLoss: settings.faults.lostTime.zoneLossPercent = 2
        case .serviceRestore: settings.faults.lostTime.serviceRestorePercent = 3
        case .serviceLoss: settings.faults.lostTime.serviceLossPercent = 2
        case .storeRestore: settings.faults.lostTime.storeRestorePercent = 3
        case .storeCopy: settings.faults.lostTime.storeCopyPercent = 2
        }
    }
}

extension MergePolicy {
    /// Notes' titles are merged as texts, folders' names as sets, under all their names.
    fileprivate mutating func addMergedTexts() {
        for entity in ["Note", "TodoNote", "DraftNote"] {
            for name in ["title", "headline"] { set(.text, entity: entity, property: name) }
        }
        for entity in ["Folder", "Binder"] { set(.set, entity: entity, property: "name") }
    }

    static func drawn(by dice: SeededRandomness) -> MergePolicy {
        let rules: [MergeRule] = [
            .local, .local, .remote, .overwrite, .rollback, .max, .latest, .latest,
        ]
        return MergePolicy(
            standard: dice.pick(rules) ?? .local,
            deletion: dice.chance(percent: 30) ? .keepEdited : .deleteWins)
    }
}

extension WorldSizes {
    public static func drawn(by dice: SeededRandomness) -> WorldSizes {
        var sizes = WorldSizes()
        if dice.chance(percent: 50) { sizes.pageRecordsMax = 1 + dice.below(4) }
        if dice.chance(percent: 50) { sizes.batchRecordsMax = 1 + dice.below(4) }
        if dice.chance(percent: 40) { sizes.historyTransactionsMax = 1 + dice.below(4) }
        sizes.operationsPerRequestMax = max(
            sizes.batchRecordsMax, dice.chance(percent: 30) ? 8 : 400)
        return sizes
    }
}

extension EditWeights {
    /// Most worlds have a little of everything; some have much of one kind.
    static func drawn(by dice: SeededRandomness, isKeyed: Bool) -> EditWeights {
        var weights = EditWeights()
        if isKeyed {
            weights.key = 10 + dice.below(25)
            weights.keysCount = 2 + dice.below(8)
        }
        if dice.chance(percent: 40) { weights.focus = 2 + dice.below(3) }
        switch dice.below(10) {
        case 0: weights.pair = 60
        case 1: weights.move = 40
        case 2: weights.delete = 25
        case 3: weights.relink = 50
        case 4: weights.change = 90
        default: break
        }
        return weights
    }
}

extension WorldFaults {
    /// Each kind of fault is there or not, by dice; in every fifth world one kind is alone.
    public static func drawn(by dice: SeededRandomness) -> WorldFaults {
        var faults = WorldFaults()
        let kinds: [(percent: Int, draw: (inout WorldFaults) -> Void)] = [
            (40, { $0.lostRequestPercent = dice.among(5...29) }),
            (50, { $0.lostReplyPercent = dice.among(5...34) }),
            (30, { $0.duplicatePercent = dice.among(5...24) }),
            (15, { $0.busyPercent = dice.among(5...19) }),
            (20, { $0.recordErrorPercent = dice.among(3...15) }),
            (12, { $0.tokenExpiryPercent = dice.among(3...15) }),
            (40, { $0.killPercent = dice.among(2...11) }),
            (40, { $0.crashPointPercent = dice.among(5...24) }),
            (30, { $0.rollbackPercent = dice.among(5...20) }),
            (15, { $0.service.killPercent = dice.among(2...10) }),
            (8, { $0.service.diskFullPercent = 2 }),
            (5, { $0.service.revokedPercent = 2 }),
        ]
        if dice.chance(percent: 20) {
            dice.pick(kinds)?.draw(&faults)
            return faults
        }
        for kind in kinds where dice.chance(percent: kind.percent) { kind.draw(&faults) }
        return faults
    }
}
