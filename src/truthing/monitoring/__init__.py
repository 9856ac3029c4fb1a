"""Quality over time: an alarm that may be looked at every day, and drift by batch or version. On
top of tables and metrics; imported by front doors only.
"""
