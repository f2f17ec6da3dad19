"""Saturated stations of 802.11b in ns-3: `python wlan.py STATIONS SECONDS QUEUE`; prints JSON.

Stations at one place send UDP datagrams of 1500 bytes with headers to one of them, at 11 Mbit/s with long preambles.
Run with a Python that has the package ns3.
"""

import json
import sys
import time

from ns import ns

stations, seconds, queue = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
BEGIN = 1.0

ns.Config.SetDefault("ns3::WifiMacQueue::MaxSize", ns.QueueSizeValue(ns.QueueSize(f"{queue}p")))
nodes = ns.NodeContainer()
nodes.Create(stations + 1)
phy = ns.YansWifiPhyHelper()
phy.SetChannel(ns.YansWifiChannelHelper.Default().Create())
wifi = ns.WifiHelper()
wifi.SetStandard(ns.WIFI_STANDARD_80211b)
wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", ns.StringValue("DsssRate11Mbps"))
mac = ns.WifiMacHelper()
mac.SetType("ns3::AdhocWifiMac")
devices = wifi.Install(phy, mac, nodes)
mobility = ns.MobilityHelper()
mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
mobility.Install(nodes)
ns.InternetStackHelper().Install(nodes)
addresses = ns.Ipv4AddressHelper()
addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
interfaces = addresses.Assign(devices)
# The queue of the link layer alone.
ns.TrafficControlHelper.Default().Uninstall(devices)
for number in range(stations):
    port = 1000 + number
    here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo()
    ns.PacketSinkHelper("ns3::UdpSocketFactory", here).Install(nodes.Get(0))
    client = ns.UdpClientHelper(ns.InetSocketAddress(interfaces.GetAddress(0), port).ConvertTo())
    # More than a station can send alone.
    client.SetAttribute("Interval", ns.TimeValue(ns.MicroSeconds(1800)))
    client.SetAttribute("MaxPackets", ns.UintegerValue(1 << 30))
    client.SetAttribute("PacketSize", ns.UintegerValue(1472))
    client.Install(nodes.Get(1 + number)).Start(ns.Seconds(BEGIN + 0.001 * number))
helper = ns.FlowMonitorHelper()
monitor = helper.InstallAll()
ns.Simulator.Stop(ns.Seconds(BEGIN + seconds))
start = time.process_time()
ns.Simulator.Run()
spent = time.process_time() - start
packets, delays = 0, 0.0
for pair in monitor.GetFlowStats():
    packets += pair[1].rxPackets
    delays += pair[1].delaySum.GetSeconds()
print(json.dumps({"mbps": packets * 0.012 / seconds, "delay_ms": 1e3 * delays / packets, "cpu_s": spent}))
