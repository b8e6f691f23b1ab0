internal import Foundation

/// The unit of the system's systemd that runs the record service: that of `Tools/packaging`, for
/// the program that writes it.
struct ServiceUnit {
    static let name = "diptych.service"
    private let folder: URL
    private static let mark = "# Written by diptych serve --install."

    init(folder: URL) { self.folder = folder }

    /// Writes the unit, over a former one of this command's but over nobody else's. Settings are
    /// read from the file that it names, so none are in it.
    func install(_ console: Console) throws {
        try UnitFile.write(
            Self.text(program: UnitFile.quoted(UnitFile.program)), to: folder, named: Self.name,
            mark: Self.mark)
        let unit = folder.appendingPathComponent(Self.name).path
        let start = "systemctl daemon-reload && systemctl enable --now diptych"
        if console.isJSON {
            console.emit([
                "event": "installed", "unit": .string(unit), "start": .string(start),
                "settings": .string(Self.settings),
            ])
        } else {
            console.line("Wrote \(unit). Settings go into \(Self.settings).")
            console.line("Start it now and with the machine:")
            console.line("  \(start)")
        }
    }

    private static let settings = "/etc/diptych/diptych.conf"

    private static func text(program: String) -> String {
        """
        \(mark)
        [Unit]
        Description=Diptych record service
        After=network-online.target
        Wants=network-online.target

        [Service]
        Type=notify
        ExecStart=\(program) serve --ready-file %t/diptych/ready.json
        ExecReload=/bin/kill -HUP $MAINPID
        Restart=on-failure
        RestartSec=2
        TimeoutStopSec=30

        # Settings come from /etc/diptych/diptych.conf, data goes to /var/lib/diptych unless they
        # say otherwise; another folder wants a ReadWritePaths= of its own here.
        Environment=XDG_CONFIG_HOME=/etc
        Environment=XDG_DATA_HOME=/var/lib
        StateDirectory=diptych
        StateDirectoryMode=0700
        LogsDirectory=diptych
        RuntimeDirectory=diptych
        RuntimeDirectoryMode=0700
        UMask=0077
        LimitNOFILE=16384

        # A user of its own, who sees its own folders and the network and little else.
        DynamicUser=yes
        CapabilityBoundingSet=
        AmbientCapabilities=
        NoNewPrivileges=yes
        ProtectSystem=strict
        ProtectHome=yes
        ProtectProc=invisible
        ProcSubset=all
        PrivateTmp=yes
        PrivateDevices=yes
        PrivateUsers=yes
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        RemoveIPC=yes
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged @resources
        SystemCallErrorNumber=EPERM

        [Install]
        WantedBy=multi-user.target

        """
    }
}
