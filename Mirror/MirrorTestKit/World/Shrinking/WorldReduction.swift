internal import MirrorEngine
internal import ObjectModel
internal import RecordWire

/// One way to have less in a world: a kind of fault that does not happen, a kind of edit that is
/// not made, a size that is as usual.
struct WorldReduction {
    let name: String
    /// Whether there is anything to have less of.
    let isPossible: (WorldSettings) -> Bool
    let apply: (inout WorldSettings) -> Void

    /// All of them; those that leave out most come first.
    static func all() -> [WorldReduction] {
        switches + rules + dials.map { $0.off() } + usualSizes + dials.map { $0.halved() }
    }

    /// What the settings have that a world of two devices without faults has not, a word or two
    /// each.
    static func summary(of settings: WorldSettings) -> String {
        var words = [
            "\(settings.devices) devices", "\(settings.steps) steps",
            "dialect \(settings.dialect.rawValue)", "rule \(settings.policy.standard.name)",
            settings.policy.deletion.rawValue,
        ]
        if settings.model.entities.contains(where: { !$0.uniquenessConstraints.isEmpty }) {
            words.append("unique keys")
        }
        words += (switches + usualSizes).filter { $0.isPossible(settings) }.map(\.name)
        let usual = WorldSettings(model: settings.model)
        words += dials.filter { $0.value(settings) != $0.value(usual) }.map {
            "\($0.name) \($0.value(settings))"
        }
        return words.joined(separator: ", ")
    }

    // MARK: What is on or off

    private static var switches: [WorldReduction] {
        [
            turn("two versions", { $0.laterModel != nil }) {
                $0.laterModel = nil
                $0.updatePercent = 0
            },
            turn("shares and selections", { $0.faults.devices.sharing != nil }) {
                $0.faults.devices.sharing = nil
            },
            turn("a second process", { $0.faults.devices.hasSecondProcess }) {
                $0.faults.devices.hasSecondProcess = false
            },
            turn("the wire", { $0.usesWire }) { $0.wireFormat = nil },
            turn("working ahead", { $0.worksAhead }) { $0.worksAhead = false },
            turn("assets", { $0.sizes.assetValueBytesMax != nil }) {
                $0.sizes.assetValueBytesMax = nil
            },
            turn("rules of properties", hasOwnRules) {
                $0.policy = MergePolicy(
                    standard: $0.policy.standard, deletion: $0.policy.deletion)
            },
        ]
    }

    private static var rules: [WorldReduction] {
        [
            turn("rule of the store", { $0.policy.standard.name != MergeRule.local.name }) {
                $0.policy.standard = .local
            },
            turn("rule of deletions", { $0.policy.deletion != .deleteWins }) {
                $0.policy.deletion = .deleteWins
            },
        ]
    }

    private static func turn(
        _ name: String, _ isOn: @escaping (WorldSettings) -> Bool,
        off: @escaping (inout WorldSettings) -> Void
    ) -> WorldReduction {
        WorldReduction(name: name, isPossible: isOn, apply: off)
    }

    private static func hasOwnRules(_ settings: WorldSettings) -> Bool {
        settings.model.entities.contains { entity in
            entity.properties.contains { property in
                let rule = settings.policy.rule(entity: entity.name ?? "", property: property.name)
                return rule.name != settings.policy.standard.name
            }
        }
    }

    /// Sizes belong together: a batch has to fit into a request, a value into a record.
    private static var usualSizes: [WorldReduction] {
        let usual = WorldSizes()
        return [
            turn("small pages", { $0.sizes.pageRecordsMax != usual.pageRecordsMax }) {
                $0.sizes.pageRecordsMax = usual.pageRecordsMax
            },
            turn("small batches", { $0.sizes.batchRecordsMax != usual.batchRecordsMax }) {
                $0.sizes.batchRecordsMax = usual.batchRecordsMax
                $0.sizes.operationsPerRequestMax = usual.operationsPerRequestMax
            },
            turn(
                "short looks at the history",
                { $0.sizes.historyTransactionsMax != usual.historyTransactionsMax },
                off: { $0.sizes.historyTransactionsMax = usual.historyTransactionsMax }),
            turn(
                "small records",
                {
                    $0.sizes.recordBytesMax != usual.recordBytesMax
                        && $0.faults.devices.oversizedPercent == 0
                },
                off: { $0.sizes.recordBytesMax = usual.recordBytesMax }),
        ]
    }

    // MARK: What is more or less

    /// A number that may be nothing.
    private struct Dial {
        let name: String
        let path: WritableKeyPath<WorldSettings, Int>

        init(_ name: String, _ path: WritableKeyPath<WorldSettings, Int>) {
            self.name = name
            self.path = path
        }

        func value(_ settings: WorldSettings) -> Int { settings[keyPath: path] }

        func off() -> WorldReduction {
            WorldReduction(
                name: name, isPossible: { value($0) > 0 }, apply: { $0[keyPath: path] = 0 })
        }

        func halved() -> WorldReduction {
            WorldReduction(
                name: "half of \(name)", isPossible: { value($0) > 1 },
                apply: { $0[keyPath: path] /= 2 })
        }
    }

    private static var dials: [Dial] { lostTime + service + messages + devices + edits }

    private static var lostTime: [Dial] {
        [
            Dial("service restore", \.faults.lostTime.serviceRestorePercent),
            Dial("service loss", \.faults.lostTime.serviceLossPercent),
            Dial("zone loss", \.faults.lostTime.zoneLossPercent),
            Dial("store restore", \.faults.lostTime.storeRestorePercent),
            Dial("store copy", \.faults.lostTime.storeCopyPercent),
        ]
    }

    private static var service: [Dial] {
        [
            Dial("service kill", \.faults.service.killPercent),
            Dial("disk full", \.faults.service.diskFullPercent),
            Dial("revoked", \.faults.service.revokedPercent),
            Dial("zone refused", \.faults.service.zoneRefusedPercent),
            Dial("forgotten deletions", \.faults.service.forgetPercent),
        ]
    }

    private static var messages: [Dial] {
        [
            Dial("lost request", \.faults.lostRequestPercent),
            Dial("lost reply", \.faults.lostReplyPercent),
            Dial("duplicate", \.faults.duplicatePercent),
            Dial("busy", \.faults.busyPercent),
            Dial("record error", \.faults.recordErrorPercent),
            Dial("token expiry", \.faults.tokenExpiryPercent),
        ]
    }

    private static var devices: [Dial] {
        [
            Dial("kill", \.faults.killPercent),
            Dial("crash point", \.faults.crashPointPercent),
            Dial("rollback", \.faults.rollbackPercent),
            Dial("clock skew", \.faults.devices.clockSkewSecondsMax),
            Dial("reset", \.faults.devices.resetPercent),
            Dial("oversized", \.faults.devices.oversizedPercent),
            Dial("taking back", \.faults.devices.takeBackPercent),
        ]
    }

    private static var edits: [Dial] {
        [
            Dial("undo", \.edits.deletions.undoPercent),
            Dial("cascade", \.edits.deletions.cascadePercent), Dial("focus", \.edits.focus),
            Dial("move", \.edits.move), Dial("key", \.edits.key), Dial("pair", \.edits.pair),
            Dial("count", \.edits.count), Dial("relink", \.edits.relink),
            Dial("delete", \.edits.delete), Dial("change", \.edits.change),
        ]
    }
}
