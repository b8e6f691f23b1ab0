internal import MirrorEngine
internal import RecordWire

/// What holds between the owner's devices and those of whom it shares with: a device holds what
/// the service shows its user and nothing else, all that is linked with shared objects is shared,
/// and who takes part no more holds nothing.
struct ShareLaws {
    let world: SimulatedWorld
    let image: DeviceImage
    let log: ConflictLog

    /// The rule under which the log has what was lost with a share.
    static let endRule = "shareEnded"

    func check() throws -> [String] {
        var broken: [String] = []
        for device in world.guests {
            var held = try DeviceImage(device)
            guard !device.waitsForShare else {
                let left = Set(held.objects.keys).subtracting(log.waiting).sorted()
                if !left.isEmpty {
                    broken.append(
                        "\(device.name) takes part no more and holds "
                            + left.map { String($0.suffix(6)) }.joined(separator: ", ") + ".")
                }
                continue
            }
            held.forget(try world.namesThatNoShareTakes(of: device))
            let shown = try DeviceImage(world.service, shownTo: device)
            if shown != held {
                broken.append(
                    "The service shows \(device.name) otherwise: "
                        + shown.differences(from: held).joined(separator: "; "))
            }
            broken += try isWhole(shown)
        }
        return broken
    }

    /// What is linked with shared objects is shared, as the owner holds it; but for what stays out
    /// since it took in what a guest made.
    private func isWhole(_ shown: DeviceImage) throws -> [String] {
        var broken: [String] = []
        let zone = world.devices[0].mirrored.settings.zoneName
        let outside = Set(
            try world.service.feed(ofZone: zone).filter { name, record in
                record.fields["CD_staysOutOfShares"] != nil && shown.objects[name] == nil
            }.keys)
        for (name, state) in image.objects.sorted(by: { $0.key < $1.key }) {
            let links = state.toOnes.compactMap { $0?.recordName }
            for other in links
            where (shown.objects[name] == nil) != (shown.objects[other] == nil)
                && outside.isDisjoint(with: [name, other])
            {
                broken.append(
                    "\(name.suffix(6)) and \(other.suffix(6)) are linked, and one is not shared.")
            }
        }
        let pairs = shown.pairs.symmetricDifference(image.pairs).filter { pair in
            let ends = pair.split(separator: " ").filter { $0 != "→" }.suffix(2).map(String.init)
            return outside.isDisjoint(with: ends) && ends.contains { shown.objects[$0] != nil }
        }
        return broken + pairs.sorted().map { "The pair \($0) is shared by halves." }
    }
}

extension SimulatedWorld {
    /// Objects that no zone ever had, on devices that take part in nothing: their users saved them
    /// before the app knew of the share's end.
    func namesThatWaitForShares() throws -> Set<String> {
        guard !guests.isEmpty, let zone = owners.first?.mirrored.settings.zoneName else {
            return []
        }
        let sent = try service.feed(ofZone: zone)
        return try guests.reduce(into: []) { names, device in
            names.formUnion(
                device.waitsForShare
                    ? try DeviceImage(device).objects.keys.filter { sent[$0] == nil }
                    : try Array(namesThatNoShareTakes(of: device)))
        }
    }

    /// Objects that a guest made and no record of the share takes below it, or whose name is that
    /// of a record outside of it: they wait with their reason, until the user deletes them or they
    /// are linked with what is shared. (docs/MERGE.md §15)
    func namesThatNoShareTakes(of device: SimulatedDevice) throws -> Set<String> {
        guard device.user != nil, let status = try device.mirrored.status() else { return [] }
        return Set(
            status.refusals.filter { refusal in
                Self.reasonsToWait.contains(where: refusal.reason.contains)
            }.map(\.recordName))
    }

    private static let reasonsToWait = [
        "The record would be outside of the share;", "The share does not let you use this name.",
    ]
}
